"""What schemathesis is told of the control plane beyond its OpenAPI document."""

import uuid

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """Requests are no repetitions of each other: generated keys often are, and would be answered as the first was."""
    for name in [name for name in case.headers or {} if name.lower() == "idempotency-key"]:
        if case.headers[name]:
            case.headers[name] = str(uuid.uuid4())
