import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { buildOrder, type OrderSpec } from "../support/OrderBuilder.ts"
import { type Answer, api, asAdmin, type Call } from "../support/TestApp.ts"

/** Asks a question over HTTP, as the administrator unless somebody else is named. */
export const ask = (body: unknown, as: Call["as"] = asAdmin) => api("POST", "/api/analytics/query", { as, body })

/** The rows of an answer; the test fails where there are none because it was refused. */
export const rowsOf = (body: unknown, as?: Call["as"]) =>
  Effect.flatMap(ask(body, as), (answer) =>
    answer.status === 200
      ? Effect.succeed(answer.list("data.rows"))
      : Effect.die(new Error(`${answer.status} ${JSON.stringify(answer.body)}`)))

/** The issues of a refusal: `path: message` each. */
export const issuesOf = (answer: Answer): ReadonlyArray<string> =>
  answer.list("error.details.issues").map((_, n) =>
    `${answer.at(`error.details.issues.${n}.path`)}: ${answer.at(`error.details.issues.${n}.message`)}`
  )

/** An order as the checkout leaves it, on the service's own database. */
export const anOrder = (spec: OrderSpec) =>
  onDatabase((sql) => Effect.provideService(buildOrder(spec), SqlClient.SqlClient, sql))
