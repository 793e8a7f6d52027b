/** `host_example_respond`: an answer out of the operation's description. */

import { capability, HostCallError } from '../../kit.ts';

/** Cost of choosing and making beyond the body's length, in instructions. */
const MAKING = 50_000;

export const examples = capability({
  functions: {
    host_example_respond: {
      signature: 'i:i',
      parameters: '(status) -> answered',
      meaning:
        'in `dispatch`: answers with the response that the API description has for `status` (200: also its first success), in a media type that `Accept` admits, with an example or a value made from the schema, as `Prefer: code=…, example=…` asks. 0: the description has none, and nothing is answered',
      declared: true,
      make: (call) => (status) => {
        if (call.hook !== 'dispatch')
          throw new HostCallError(`host_example_respond is for dispatchers, not ${call.hook}`);
        const exchange = call.request();
        call.burn(MAKING);
        const answer = exchange.operation?.examples?.answer(exchange, status) ?? null;
        if (answer === null) return 0;
        exchange.answer = answer;
        call.responded = true;
        return 1;
      },
    },
  },
});
