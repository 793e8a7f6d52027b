/**
 * The specs that `gw init`, and `POST /init` of the control plane, begin a project with (docs/reference/cli.md#init,
 * docs/reference/control-plane.md#init).
 */

export const TEMPLATES = ['basic', 'minimal'] as const;
export type Template = (typeof TEMPLATES)[number];

/** Built-in plugins that such a project may use. */
export const STARTER_PLUGINS = ['mock', 'http-upstream'] as const;

/** OpenAPI 3.1 in YAML; `title` is any text. */
export function templateSpec(template: Template, title: string): string {
  // JSON's strings are YAML's.
  const head = `openapi: 3.1.0\ninfo:\n  title: ${JSON.stringify(title)}\n  version: 1.0.0\npaths:\n${HEALTH}`;
  return template === 'minimal' ? head : head + USERS;
}

/** AsyncAPI 3.0 in YAML: the gateway takes messages by POST. */
export function asyncTemplateSpec(title: string): string {
  return `asyncapi: 3.0.0\ninfo:\n  title: ${JSON.stringify(title)}\n  version: 1.0.0\n${ORDERS}`;
}

const ORDERS = `channels:
  orders:
    address: orders
    messages:
      order:
        contentType: application/json
        payload:
          type: object
          required: [item]
          properties:
            item: { type: string, minLength: 1 }
            amount: { type: integer, minimum: 1 }
operations:
  placeOrder:
    action: send
    channel: { $ref: "#/channels/orders" }
    summary: Served as POST /orders
    # Answered by the gateway itself. To pass messages on, name a dispatcher for your broker.
    x-gw-dispatch:
      name: mock
      config:
        status: 202
        body: '{"status":"accepted"}'
`;

const HEALTH = `  /health:
    get:
      operationId: getHealth
      summary: Says that the API is up
      x-gw-dispatch:
        name: mock
        config:
          body: '{"status":"ok"}'
      responses:
        "200":
          description: It is up
          content:
            application/json:
              schema: { type: object }
`;

const USERS = `  /users:
    get:
      operationId: listUsers
      parameters:
        - name: limit
          in: query
          schema: { type: integer, minimum: 1, maximum: 100, default: 20 }
      # Answered by the gateway itself. To pass requests on to a service instead:
      #   x-gw-dispatch:
      #     name: http-upstream
      #     config:
      #       url: https://users.example.com
      x-gw-dispatch:
        name: mock
        config:
          body: '[{"id":1,"name":"Ada"},{"id":2,"name":"Grace"}]'
      responses:
        "200":
          description: The users
          content:
            application/json:
              schema:
                type: array
                items: { $ref: "#/components/schemas/User" }
    post:
      operationId: createUser
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [name]
              properties:
                name: { type: string, minLength: 1 }
      x-gw-dispatch:
        name: mock
        config:
          status: 201
          body: '{"id":3,"name":"Edsger"}'
      responses:
        "201":
          description: The new user
          content:
            application/json:
              schema: { $ref: "#/components/schemas/User" }
  /users/{id}:
    get:
      operationId: getUser
      parameters:
        - name: id
          in: path
          required: true
          schema: { type: integer }
      x-gw-dispatch:
        name: mock
        config:
          body: '{"id":{{path_params.id}},"name":"Ada"}'
      responses:
        "200":
          description: The user
          content:
            application/json:
              schema: { $ref: "#/components/schemas/User" }
components:
  schemas:
    User:
      type: object
      required: [id, name]
      properties:
        id: { type: integer }
        name: { type: string }
`;

/** Returns the options of `gw compile` and of `gw serve` that an `http://` upstream of a laptop needs; else empty ones. */
export function plaintextFlags(upstream: string | undefined): readonly [string, string] {
  if (!upstream?.startsWith('http:')) return ['', ''];
  return [' --allow-plaintext', ' --allow-plaintext-upstream --egress-allow 127.0.0.0/8'];
}
