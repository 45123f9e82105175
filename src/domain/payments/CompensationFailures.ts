import { Context, Effect, Layer } from "effect"
import { Conflict, NotFound } from "../errors/ApiErrors.ts"
import { CompensationFailureRepo } from "./CompensationFailureRepo.ts"

/** Steps about money that failed for good, for the operator (contract §3.8; `compensation:admin`). */
export class CompensationFailures
  extends Context.Service<CompensationFailures>()("stoa/domain/payments/CompensationFailures", {
    make: Effect.gen(function*() {
      const repo = yield* CompensationFailureRepo
      const get = Effect.fn("CompensationFailures.get")(function*(id: string) {
        return (yield* repo.find(id)) ?? (yield* NotFound.of("Compensation failure not found."))
      })
      /** Records that an operator settled the failure elsewhere; changes nothing else. 404; 409 if it is not open. */
      const resolve = Effect.fn("CompensationFailures.resolve")(function*(id: string, note: string | null) {
        const done = yield* repo.resolve(id, note)
        const failure = yield* get(id)
        return done
          ? failure
          : yield* Conflict.of(`The failure is ${failure.status}: only an open one can be resolved.`)
      })
      return { list: repo.list, get, resolve }
    })
  })
{
  static readonly layer = Layer.effect(CompensationFailures, CompensationFailures.make)
}
