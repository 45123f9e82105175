import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { StatusChanges } from "../../workflows/payments/StatusChanges.ts"
import { PaymentsGroup } from "./PaymentsApi.ts"

/** Handlers of the routes that `PaymentsApi.ts` declares. */
export const paymentsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(PaymentsGroup),
  "payments",
  Effect.fnUntraced(function*(handlers) {
    const changes = yield* StatusChanges
    return handlers.handleAll({
      webhook: Effect.fnUntraced(function*({ request }) {
        // A body that cannot be read (too large, cut off) is a defect here, and the edge answers it.
        const rawBody = yield* Effect.catch(request.text, (error) => Effect.die(error))
        const { duplicate } = yield* changes.receive(request.headers, rawBody)
        return duplicate ? { received: true, duplicate: true } as const : { received: true } as const
      })
    })
  })
)
