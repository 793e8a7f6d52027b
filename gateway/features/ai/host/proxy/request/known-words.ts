/** The words of the protocols themselves, on all surfaces: names of members, and values of a closed set. Neither carries a text. */

/** Members whose values follow the protocol's rules: those of others may be anything. */
export const PROTOCOL_NAMES: ReadonlySet<string> = new Set(
  `messages input instructions system prompt suffix prediction tools functions response_format text web_search_options
  model max_tokens max_completion_tokens max_output_tokens n stream stream_options temperature top_p top_k stop
  stop_sequences seed presence_penalty frequency_penalty logit_bias logprobs top_logprobs user tool_choice
  function_call parallel_tool_calls reasoning reasoning_effort thinking budget_tokens effort verbosity modalities audio
  voice service_tier store metadata include include_usage truncation background previous_response_id conversation
  safety_identifier prompt_cache_key prompt_cache_retention dimensions encoding_format output_config max_tool_calls
  container mcp_servers context_management betas
  role content name tool_calls tool_call_id type function arguments id refusal annotations reasoning_content
  reasoning_details image_url url detail input_audio data format file file_data file_id filename file_url
  source media_type cache_control ttl citations title context tool_use_id is_error signature summary encrypted_content
  call_id status output result queries action results item_id output_index content_index summary_index index
  description parameters strict input_schema schema json_schema defer_loading custom definition syntax allowed_tools
  server_label server_url connector_id require_approval authorization headers allowed_domains blocked_domains filters
  user_location country region city timezone approximate search_context_size vector_store_ids max_num_results
  max_uses display_width_px display_height_px display_number environment generate_summary
  choices message delta finish_reason stop_reason stop_sequence native_finish_reason usage created created_at
  completed_at object system_fingerprint code error param transcript expires_at output_text item part response
  sequence_number partial_json partial_image_b64 content_block citation cited_text document_index document_title
  start_index end_index start_char_index end_char_index start_page_number end_page_number start_block_index
  end_block_index url_citation file_citation embedding prompt_tokens completion_tokens total_tokens input_tokens
  output_tokens cached_tokens reasoning_tokens audio_tokens accepted_prediction_tokens rejected_prediction_tokens
  prompt_tokens_details completion_tokens_details input_tokens_details output_tokens_details
  cache_creation_input_tokens cache_read_input_tokens cache_creation ephemeral_5m_input_tokens
  ephemeral_1h_input_tokens server_tool_use incomplete_details reason reasoning_text obfuscation phase caller`
    .split(/\s+/)
    .filter((name) => name !== ''),
);

/** Members below which anything may stand, although their names are the protocol's. */
export const FREE_NAMES: ReadonlySet<string> = new Set([
  'arguments',
  'parameters',
  'input_schema',
  'schema',
  'metadata',
  'headers',
  'logit_bias',
  'filters',
]);

/** Values that a closed set has, by the members that have one. */
export const WORDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    role: 'system developer user assistant tool function',
    type: `text image image_url input_text input_image input_file input_audio output_text output_audio refusal file
      message function function_call function_call_output custom custom_tool_call custom_tool_call_output item_reference
      reasoning reasoning_text summary_text thinking redacted_thinking tool_use tool_result server_tool_use document
      base64 url content ephemeral enabled disabled adaptive auto any none tool json_object json_schema grammar
      web_search web_search_preview web_search_call file_search file_search_call computer_call computer_call_output
      computer_screenshot code_interpreter code_interpreter_call image_generation image_generation_call mcp mcp_call
      mcp_list_tools mcp_approval_request mcp_approval_response local_shell local_shell_call local_shell_call_output
      shell shell_call shell_call_output apply_patch apply_patch_call apply_patch_call_output compaction
      web_search_tool_result web_search_result search_result char_location page_location content_block_location
      web_search_result_location search_result_location url_citation file_citation container_file_citation file_path
      text_delta thinking_delta input_json_delta signature_delta citations_delta error approximate allowed_tools
      string number integer boolean object array null reasoning.text reasoning.summary reasoning.encrypted
      invalid_request_error permission_error message_start message_delta message_stop content_block_start
      content_block_delta content_block_stop ping`,
    status: 'in_progress completed incomplete failed cancelled queued searching calling generating interpreting',
    detail: 'auto low high original',
    effort: 'none minimal low medium high xhigh max',
    reasoning_effort: 'none minimal low medium high xhigh max',
    verbosity: 'low medium high',
    object: `chat.completion chat.completion.chunk response list embedding model text_completion`,
    finish_reason: 'stop length tool_calls content_filter function_call',
    native_finish_reason: 'stop length tool_calls content_filter function_call',
    stop_reason: 'end_turn max_tokens stop_sequence tool_use pause_turn refusal model_context_window_exceeded',
    tool_choice: 'auto none required any',
    function_call: 'auto none',
    service_tier: 'auto default flex priority scale standard standard_only batch',
    encoding_format: 'float base64',
    truncation: 'auto disabled',
    format:
      'wav mp3 flac opus aac pcm16 pcm date-time date time email uri uuid hostname ipv4 ipv6 int32 int64 float double',
    media_type: 'image/png image/jpeg image/gif image/webp application/pdf text/plain',
    ttl: '5m 1h',
    summary: 'auto concise detailed',
    reason: 'max_output_tokens content_filter',
  }).map(([name, words]) => [name, new Set(words.split(/\s+/).filter((word) => word !== ''))]),
);

/** Members that name something else: a value in one piece is a name, and must stay as it is. */
export const LABELS: ReadonlySet<string> = new Set([
  ...['id', 'call_id', 'tool_call_id', 'tool_use_id', 'item_id', 'file_id', 'previous_response_id', 'name'],
  ...['system_fingerprint', 'media_type', 'server_label', 'connector_id', 'prompt_cache_key', 'obfuscation'],
]);
