import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { Conflict, NotFound } from "../errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { CompensationFailure } from "./CompensationFailure.ts"
import { CompensationFailureRepo } from "./CompensationFailureRepo.ts"

/** Steps about money that failed for good, for the operator (contract §3.8; `compensation:admin`). */
export class CompensationFailures extends Context.Service<CompensationFailures, {
  /** A page of failures, newest first, optionally of one status. */
  readonly list: (
    status: string | undefined,
    page: PageRequest
  ) => Effect.Effect<PageOf<CompensationFailure>, never, CurrentActor>
  readonly get: (id: string) => Effect.Effect<CompensationFailure, NotFound, CurrentActor>
  /** Records that an operator settled the failure elsewhere; changes nothing else. 404; 409 if it is not open. */
  readonly resolve: (
    id: string,
    note: string | null
  ) => Effect.Effect<CompensationFailure, NotFound | Conflict, CurrentActor>
}>()("stoa/domain/payments/CompensationFailures") {
  static readonly layer = Layer.effect(
    CompensationFailures,
    Effect.gen(function*() {
      const repo = yield* CompensationFailureRepo
      const get = Effect.fn("CompensationFailures.get")(function*(id: string) {
        return (yield* repo.find(id)) ?? (yield* NotFound.of("Compensation failure not found."))
      })
      const resolve = Effect.fn("CompensationFailures.resolve")(function*(id: string, note: string | null) {
        const done = yield* repo.resolve(id, note)
        const failure = yield* get(id)
        return done
          ? failure
          : yield* Conflict.of(`The failure is ${failure.status}: only an open one can be resolved.`)
      })
      return { list: repo.list, get, resolve }
    })
  )
}
