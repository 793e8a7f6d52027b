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

/** Policies on prompts; declare `host_ai_prompt_open` and `host_ai_prompt_check`, and `request_body = "buffer"`. */
export namespace AiPrompts {
  /** In `init`: reads the whole config as `ai-prompt-guard` has it. */
  export function open(): void {
    host.host_ai_prompt_open();
  }

  /** In `on_request`: whether the prompt is refused, with an answer; return `ANSWERED` then. May wait. */
  export function check(): bool {
    return host.host_ai_prompt_check() != 0;
  }
}
