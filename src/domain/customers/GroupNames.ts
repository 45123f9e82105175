import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { CustomerBatchRepo } from "./CustomerBatchRepo.ts"

/** Groups as files name them. */
export class GroupNames extends Context.Service<GroupNames, {
  /** Ids by name, of the names that are groups; one statement, and they stay until the end of the transaction. */
  readonly idsOf: (
    names: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyMap<string, string>, never, CurrentActor>
}>()("stoa/domain/customers/GroupNames") {
  static readonly layer = Layer.effect(
    GroupNames,
    Effect.map(CustomerBatchRepo, (repo) => ({ idsOf: repo.groupsNamed }))
  )
}
