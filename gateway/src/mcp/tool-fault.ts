/** The arguments do not make a request of the tool; the message tells a model how to correct them. */
export class ToolFault extends Error {}
