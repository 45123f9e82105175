import { Context, Effect, Layer, Schema } from "effect"
import { CurrentActor, InvalidTransition, NotFound, PluginDatabase, systemActor } from "stoa/plugin"
import { MarketplaceOptions } from "../MarketplaceOptions.ts"
import { autoDeliveryRepo } from "./AutoDeliveryRepo.ts"
import { SubOrderMoves } from "./SubOrderMoves.ts"

const [atOnce, first] = [100, "00000000-0000-0000-0000-000000000000"] as const

const make = Effect.gen(function*() {
  const db = yield* PluginDatabase
  const moves = yield* SubOrderMoves
  const { autoDeliverAfterDays: days } = yield* MarketplaceOptions
  const repo = autoDeliveryRepo(db)

  /** One that was delivered, cancelled or disputed meanwhile is left as it is. */
  const deliver = (id: string) =>
    moves.deliverUndisputed(id).pipe(
      Effect.as(1),
      Effect.catchIf(Schema.is(Schema.Union([NotFound, InvalidTransition])), () => Effect.succeed(0)),
      // One that cannot be changed must not cost the others their turn.
      Effect.catchCause((cause) => Effect.as(Effect.logError(`sub-order ${id} could not be delivered`, cause), 0))
    )

  const ofOrganization = Effect.fn("AutoDelivery.ofOrganization")(function*() {
    let count = 0
    for (let after: string | undefined = first; after !== undefined;) {
      const overdue: ReadonlyArray<string> = yield* repo.overdue(days, after, atOnce)
      for (const id of overdue) count += yield* deliver(id)
      after = overdue.length === atOnce ? overdue.at(-1) : undefined
    }
    return count
  })

  /**
   * Marks as delivered what was shipped `autoDeliverAfterDays` ago, in all organizations, which starts the holdback of
   * its money; returns the number. For the scheduler.
   */
  const deliverOverdue = Effect.gen(function*() {
    if (days === 0) return 0
    let count = 0
    for (const organizationId of yield* repo.organizations(days)) {
      count += yield* Effect.provideService(ofOrganization(), CurrentActor, systemActor(organizationId))
    }
    return count
  })

  return { deliverOverdue }
})

/**
 * The timer of deliveries (contract, plugins §1.2): without it a shipped sub-order that is never marked as delivered would
 * hold the vendor's money back for ever.
 */
export class AutoDelivery extends Context.Service<AutoDelivery>()("stoa/plugins/marketplace/suborders/AutoDelivery", {
  make
}) {
  static readonly layer = Layer.effect(AutoDelivery, AutoDelivery.make)
}
