/** AI providers; declare `host_ai_open` and `host_ai_answer`, and `request_body = "buffer"`. */
import * as host from "./host";

/**
 * @example
 * Ai.answer(); // in dispatch, after Ai.open() in init
 * return HANDED_OFF;
 */
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

/**
 * Policies on prompts; declare `host_ai_prompt_open` and `host_ai_prompt_check`, and `request_body = "buffer"`.
 *
 * @example
 * if (AiPrompts.check()) return ANSWERED;
 */
export namespace AiPrompts {
  /** In `init`: reads the whole config as `ai-prompt-guard` has it. */
  export function open(): void {
    host.host_ai_prompt_open();
  }

  /** In `on_request`: whether the prompt is refused, with an answer; return `ANSWERED` then. May wait. */
  export function check(): bool {
    return host.host_ai_prompt_check() != 0;
  }

  /**
   * In `on_response`, if the config restores personal data: reports whether another answer takes its place, for lack of
   * room; return `ANSWERED` then. Declare `host_ai_prompt_restore`.
   */
  export function restore(): bool {
    return host.host_ai_prompt_restore() != 0;
  }
}

/**
 * Templates of prompts; declare `host_ai_template_open` and `host_ai_template_apply`, and `request_body = "buffer"`.
 *
 * @example
 * if (AiTemplates.refused()) return ANSWERED;
 */
export namespace AiTemplates {
  /** In `init`: reads the whole config as `ai-prompt-template` has it. */
  export function open(): void {
    host.host_ai_template_open();
  }

  /**
   * In `on_request`: applies the config's templates to the prompt; reports whether the request is refused, with an
   * answer: return `ANSWERED` then. May wait.
   */
  export function refused(): bool {
    return host.host_ai_template_apply() != 0;
  }
}

/**
 * Quotas of tokens; declare `host_ai_tokens_open` and `host_ai_tokens_reserve`, and `request_body = "buffer"`.
 *
 * @example
 * if (AiTokens.refused()) return ANSWERED;
 */
export namespace AiTokens {
  /** In `init`: reads the whole config as `ai-token-limit` has it. */
  export function open(): void {
    host.host_ai_tokens_open();
  }

  /** In `on_request`: whether the request is refused, with an answer; return `ANSWERED` then. May wait. */
  export function refused(): bool {
    return host.host_ai_tokens_reserve() != 0;
  }
}

/**
 * Prices and budgets; declare `host_ai_costs_open` and `host_ai_costs_reserve`, and `request_body = "buffer"`.
 *
 * @example
 * if (AiCosts.refused()) return ANSWERED;
 */
export namespace AiCosts {
  /** In `init`: reads the whole config as `ai-cost-tracker` has it. */
  export function open(): void {
    host.host_ai_costs_open();
  }

  /** In `on_request`: whether the request is refused, with an answer; return `ANSWERED` then. May wait. */
  export function refused(): bool {
    return host.host_ai_costs_reserve() != 0;
  }
}

/**
 * Policies on answers; declare `host_ai_answers_open` and `host_ai_answers_check`.
 *
 * @example
 * if (AiAnswers.withheld()) return ANSWERED; // in on_response
 */
export namespace AiAnswers {
  /** In `init`: reads the whole config as `ai-response-guard` has it. */
  export function open(): void {
    host.host_ai_answers_open();
  }

  /** In `on_response`: whether the answer is withheld, with another in its place; return `ANSWERED` then. */
  export function withheld(): bool {
    return host.host_ai_answers_check() != 0;
  }
}

/**
 * Stored answers; declare `host_ai_cache_open`, `host_ai_cache_lookup` and `host_ai_cache_settle`, and `request_body = "buffer"`.
 *
 * @example
 * if (AiCache.lookup()) return ANSWERED;
 */
export namespace AiCache {
  /** In `init`: reads the whole config as `ai-cache` has it. */
  export function open(): void {
    host.host_ai_cache_open();
  }

  /** In `on_request`: whether a stored answer is the response; return `ANSWERED` then. May wait. */
  export function lookup(): bool {
    return host.host_ai_cache_lookup() != 0;
  }

  /** In `on_response`, always: stores the answer if it may be stored. */
  export function settle(): void {
    host.host_ai_cache_settle();
  }
}
