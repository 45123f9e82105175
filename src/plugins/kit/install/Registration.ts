import { Effect } from "effect"
import { CheckoutExtensions } from "../../../domain/checkout/CheckoutExtension.ts"
import { Hooks } from "../../../domain/hooks/Hooks.ts"
import { type Task, Tasks } from "../../../domain/jobs/Task.ts"
import { OrderProjections } from "../../../domain/orders/OrderProjections.ts"
import { type PaymentAdapter, PaymentAdapters } from "../../../domain/payments/PaymentAdapter.ts"
import { LinePricings } from "../../../domain/pricing/LinePricing.ts"
import { RateAdapters } from "../../../domain/shipping/RateAdapter.ts"
import { TaxAdapters } from "../../../domain/tax/TaxAdapter.ts"
import { InvalidSetting } from "../../../layers/config/Settings.ts"
import type { InstalledPlugin } from "../Plugin.ts"

/** Gives what a plugin brought to the modules of the core that ask for it. Fails with a sentence when a name is taken. */
export const registration = Effect.gen(function*() {
  const [hooks, tasks, payments] = yield* Effect.all([Hooks, Tasks, PaymentAdapters])
  const [taxes, rates, projections, pricings, checkouts] = yield* Effect.all([
    TaxAdapters,
    RateAdapters,
    OrderProjections,
    LinePricings,
    CheckoutExtensions
  ])
  /** Whose a task is, by its slug. */
  const owners = new Map<string, string>()
  const taken = (what: string, plugin: string, owner: string) =>
    new InvalidSetting({ message: `The ${what} of plugin "${plugin}" belongs to ${owner} already.` })

  const addTask = Effect.fnUntraced(function*(plugin: string, task: Task) {
    if (tasks.find(task.slug) !== undefined) {
      return yield* taken(`task "${task.slug}"`, plugin, owners.get(task.slug) ?? "the core or the deployment")
    }
    owners.set(task.slug, `plugin "${plugin}"`)
    yield* tasks.register(task)
  })

  const addPaymentMethod = Effect.fnUntraced(function*(plugin: string, adapter: PaymentAdapter) {
    const { providerId } = adapter
    if (payments.byProvider(providerId) !== undefined) {
      return yield* taken(`payment method "${providerId}"`, plugin, "another provider")
    }
    yield* payments.register([adapter])
  })

  return Effect.fnUntraced(function*(plugin: string, installed: InstalledPlugin) {
    yield* hooks.register(installed.hooks)
    yield* Effect.forEach(installed.tasks, (task) => addTask(plugin, task), { discard: true })
    yield* Effect.forEach(installed.paymentMethods, (one) => addPaymentMethod(plugin, one), { discard: true })
    yield* taxes.register(installed.taxAdapters)
    yield* rates.register(installed.shippingAdapters)
    if (installed.orderProjection !== undefined) yield* projections.register(installed.orderProjection)
    if (installed.linePricing !== undefined) yield* pricings.register(installed.linePricing)
    if (installed.checkoutExtension !== undefined) yield* checkouts.register(plugin, installed.checkoutExtension)
  })
})
