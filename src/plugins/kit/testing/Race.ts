import { deepStrictEqual, ok, strictEqual } from "node:assert/strict"
import type { PluginTestApp, TestAnswer, TestRequest } from "./PluginTestApp.ts"
import { testAdminActor } from "./TestActors.ts"

/** The request that is sent several times at once; as the admin unless it says who asks. */
export interface RacedRequest extends TestRequest {
  readonly method: string
  readonly path: string
}

const isDone = ({ status }: TestAnswer): boolean => status < 300

/** How many of the requests have written entries into the change log. */
const writersAmong = async ({ db }: Pick<PluginTestApp, "db">, answers: ReadonlyArray<TestAnswer>) => {
  const ids = answers.map(({ headers }) => headers.get("x-request-id"))
  const rows = await db.query("select distinct request_id from outbox_events where request_id = any($1)", [ids])
  return rows.length
}

/**
 * Sends a request `count` times at the same moment and fails unless it takes effect once: one is done and the others are
 * 404, 409 or 422. With an `Idempotency-Key` those that are done too have the same answer. Gives all answers.
 */
export const raceOf = async (
  { app, db }: Pick<PluginTestApp, "app" | "db">,
  { method, path, ...request }: RacedRequest,
  count = 8
): Promise<ReadonlyArray<TestAnswer>> => {
  const send = () => app.request(method, path, { as: testAdminActor, ...request })
  const answers = await Promise.all(Array.from({ length: count }, send))
  const [done, refused] = [answers.filter(isDone), answers.filter((answer) => !isDone(answer))]
  const statuses = answers.map(({ status }) => status).join(", ")
  for (const { status } of refused) {
    ok([404, 409, 422].includes(status), `${method} ${path} answers ${statuses}`)
  }
  const hasKey = Object.keys(request.headers ?? {}).some((name) => name.toLowerCase() === "idempotency-key")
  if (hasKey) { for (const { body } of done) deepStrictEqual(body, done[0]?.body) }
  ok(hasKey ? done.length > 0 : done.length === 1, `${method} ${path} is done ${done.length} times: ${statuses}`)
  const writers = await writersAmong({ db }, answers)
  strictEqual(Math.max(1, writers), 1, `${writers} of the requests ${method} ${path} have changed something`)
  return answers
}
