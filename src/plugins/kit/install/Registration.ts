import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CheckoutExtensions } from "../../../domain/checkout/CheckoutExtension.ts"
import { OrderProjections } from "../../../domain/orders/OrderProjections.ts"
import { type PaymentAdapter, PaymentAdapters } from "../../../domain/payments/PaymentAdapter.ts"
import { Hooks } from "../../../domain/platform/hooks/Hooks.ts"
import { type Task, Tasks } from "../../../domain/platform/tasks/Task.ts"
import { LinePricings } from "../../../domain/pricing/LinePricing.ts"
import { PersonalRecords } from "../../../domain/privacy/PersonalRecords.ts"
import { type SearchField, SearchFields } from "../../../domain/search/SearchFields.ts"
import { usualFacets } from "../../../domain/search/SearchQuery.ts"
import { RateAdapters } from "../../../domain/shipping/RateAdapter.ts"
import { TaxAdapters } from "../../../domain/tax/TaxAdapter.ts"
import { InvalidSetting } from "../../../layers/config/Settings.ts"
import type { InstalledPlugin, Plugin } from "../Plugin.ts"
import { retentionOf } from "../records/Retention.ts"
import { personalRecordsOf } from "../tables/PersonalRowsRepo.ts"

const fieldForm = /^[A-Za-z0-9_-]{1,64}$/

/** Gives what a plugin brought to the modules of the core that ask for it. Fails with a sentence when a name is taken. */
export const registration = Effect.gen(function*() {
  const [hooks, tasks, payments] = yield* Effect.all([Hooks, Tasks, PaymentAdapters])
  const [taxes, rates, projections, pricings, checkouts, fields] = yield* Effect.all([
    TaxAdapters,
    RateAdapters,
    OrderProjections,
    LinePricings,
    CheckoutExtensions,
    SearchFields
  ])
  const [people, sql] = yield* Effect.all([PersonalRecords, SqlClient.SqlClient])
  /** Whose a task or a search field is, by its slug or name. */
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

  const addSearchField = Effect.fnUntraced(function*(plugin: string, field: SearchField) {
    const { name } = field
    const key = `search field "${name}"`
    if (!fieldForm.test(name) || usualFacets.includes(name)) {
      const message = `Plugin "${plugin}": the ${key} needs 1 to 64 letters, digits, _ and -, and no name of the core.`
      return yield* new InvalidSetting({ message })
    }
    if (fields.has(name)) return yield* taken(key, plugin, owners.get(key) ?? "another plugin")
    owners.set(key, `plugin "${plugin}"`)
    yield* fields.register(field)
  })

  return Effect.fnUntraced(function*(owner: Plugin, installed: InstalledPlugin) {
    const plugin = owner.id
    yield* hooks.register(installed.hooks)
    yield* Effect.forEach([...installed.tasks, ...retentionOf(sql, owner)], (task) => addTask(plugin, task), {
      discard: true
    })
    yield* Effect.forEach(installed.paymentMethods, (one) => addPaymentMethod(plugin, one), { discard: true })
    yield* people.register(personalRecordsOf(sql, owner))
    yield* taxes.register(installed.taxAdapters)
    yield* rates.register(installed.shippingAdapters)
    yield* Effect.forEach(installed.searchDocuments, (one) => addSearchField(plugin, one), { discard: true })
    if (installed.orderProjection !== undefined) yield* projections.register(installed.orderProjection)
    if (installed.linePricing !== undefined) yield* pricings.register(installed.linePricing)
    if (installed.checkoutExtension !== undefined) yield* checkouts.register(plugin, installed.checkoutExtension)
  })
})
