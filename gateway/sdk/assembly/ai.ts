/** AI providers; declare `host_ai_open` and `host_ai_answer`, and `request_body = "buffer"`. */
import * as host from "./host";

export namespace Ai {
  /** In `init`: reads the whole config as `ai-proxy` has it. */
  export function open(): void {
    host.host_ai_open();
  }

  /** The host answers the request, as the provider's answer comes; return `HANDED_OFF` from `dispatch`. */
  export function answer(): void {
    host.host_ai_answer();
  }
}
