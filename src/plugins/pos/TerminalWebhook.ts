import { Effect } from "effect"
import { apiError, isUuid, NotFound, type PluginContext, Text } from "stoa/plugin"
import { settlePayment } from "./Payments.ts"
import { terminalOf } from "./ReaderPayments.ts"
import { payments } from "./Sales.ts"
import { routes } from "./Terminals.ts"

class NotFromProvider extends apiError(
  "NotFromProvider",
  { status: 400, code: "WEBHOOK_VERIFICATION_FAILED" },
  "The event has no valid signature."
) {}

/** Events of card terminals, which are hints: the terminal is asked what became of the payment. */
export const terminalWebhook = ({ ofRecord }: PluginContext) =>
  routes.raw("POST", "/terminals/:adapter/webhook", {
    summary: "Receive an event of card terminals",
    description:
      "400 without a valid signature; 422 for an unknown adapter. Events about unknown payments are ignored.",
    public: "Its signature says who sends it.",
    params: { adapter: Text },
    errors: [NotFromProvider]
  }, ({ body, headers, params }) =>
    Effect.gen(function*() {
      const { verifyWebhook } = yield* terminalOf(params.adapter)
      const event = yield* verifyWebhook === undefined
        ? Effect.succeed(undefined)
        : verifyWebhook(headers, new TextDecoder().decode(body))
      if (event === undefined) return yield* new NotFromProvider()
      if (!isUuid(event.paymentId)) return { status: 200, body: "" }
      yield* ofRecord(payments, event.paymentId)((call) =>
        Effect.flatMap(call.db.table(payments).get(event.paymentId), (row) => settlePayment(call, row))
      ).pipe(
        // The provider need not send it again: a job asks about pending payments.
        Effect.catch((error) =>
          error instanceof NotFound ? Effect.void : Effect.logInfo("a payment is not settled", error)
        )
      )
      return { status: 200, body: "" }
    }))
