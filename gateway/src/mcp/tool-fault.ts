/** Arguments do not make a request of the tool; the message tells a model what to change. */
export class ToolFault extends Error {}
