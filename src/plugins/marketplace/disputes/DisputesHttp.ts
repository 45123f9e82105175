import { Effect } from "effect"
import { Disputes } from "./Disputes.ts"
import * as api from "./DisputesApi.ts"
import { Resolutions } from "./Resolutions.ts"

/** Answers of the routes that `DisputesApi.ts` declares. */
export const disputeRoutes = [
  api.openDispute.handle(({ input }) => Effect.flatMap(Disputes, (disputes) => disputes.open(input))),
  api.listDisputes.handle(({ page, query }) => Effect.flatMap(Disputes, (disputes) => disputes.page(query, page))),
  api.readDispute.handle(({ params }) => Effect.flatMap(Disputes, (disputes) => disputes.get(params.id))),
  api.answerDispute.handle(({ input, params }) =>
    Effect.flatMap(Disputes, (disputes) => disputes.answer(params.id, input))
  ),
  api.escalateDispute.handle(({ params }) => Effect.flatMap(Disputes, (disputes) => disputes.escalate(params.id))),
  api.resolveDispute.handle(({ input, params }) =>
    Effect.flatMap(Resolutions, (resolutions) => resolutions.resolve(params.id, input))
  )
]
