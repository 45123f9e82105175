import { Context, Effect, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import type { Change } from "../events/Event.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { newId } from "../ids/Id.ts"
import { type BatchResult, type Outcome, refusedFor } from "../import-export/Outcome.ts"
import { type Address, addressOf, maxAddresses, type NewAddress } from "./Address.ts"
import type { Customer } from "./Customer.ts"
import { CustomerBatchRepo, type CustomerState, type CustomerWrites } from "./CustomerBatchRepo.ts"
import type { CustomerRecord } from "./CustomerRecord.ts"
import { customerChange } from "./CustomerRows.ts"
import { changedCustomer, newCustomer } from "./CustomerRules.ts"

/** Enters and changes many customers at once, as files bring them (docs/import-export.md). */
export class CustomerBatches extends Context.Service<CustomerBatches, {
  /** One outcome for each, by a constant number of statements; to be called inside of a transaction. */
  readonly apply: (records: ReadonlyArray<CustomerRecord>) => Effect.Effect<BatchResult, never, CurrentActor>
  /**
   * Ids of the profiles that records under these e-mail addresses belong to, by the addresses in lower case; one
   * statement. Where several have an address none is named, and neither is one whose login has not proved that it is his.
   */
  readonly ownersOf: CustomerBatchRepo["Service"]["ownersOf"]
}>()("stoa/domain/customers/CustomerBatches") {
  static readonly layer = Layer.effect(
    CustomerBatches,
    Effect.gen(function*() {
      const repo = yield* CustomerBatchRepo
      const hooks = yield* Hooks

      const apply = Effect.fn("CustomerBatches.apply")(function*(records: ReadonlyArray<CustomerRecord>) {
        const { organizationId } = yield* CurrentActor
        const state = yield* repo.read(records)
        const writes: CustomerWrites = {
          created: [],
          changed: [],
          groups: [],
          joined: [],
          left: [],
          addresses: [],
          changes: []
        }
        const [made, changed]: [Array<Customer>, Array<Customer>] = [[], []]
        const outcomes = records.map((record): Outcome => {
          const found = state.customers.get(record.email.toLowerCase()) ?? []
          if (found.length > 1) return refusedFor("email", "Several customers have this address.", "ambiguous")
          const [before] = found
          const planned = plan(record, before, state, organizationId)
          if (typeof planned === "string") return refusedFor("addresses", planned, "too_many")
          const { customer } = planned
          addWrites(writes, planned)
          if (before === undefined) made.push(customer)
          else if (planned.changes.length === 0) return { _tag: "unchanged" }
          else changed.push(customer)
          return { _tag: before === undefined ? "created" : "updated" }
        })
        yield* repo.write(writes)
        const tell = Effect.andThen(
          Effect.forEach(made, (customer) => hooks.after("customers.afterCreate", customer), { discard: true }),
          Effect.forEach(changed, (customer) => hooks.after("customers.afterUpdate", customer), { discard: true })
        )
        const result: BatchResult = { outcomes, told: tell }
        return result
      })

      return { apply, ownersOf: repo.ownersOf }
    })
  )
}

const addWrites = (to: CustomerWrites, from: CustomerWrites): void => {
  to.created.push(...from.created)
  to.changed.push(...from.changed)
  to.groups.push(...from.groups)
  to.joined.push(...from.joined)
  to.left.push(...from.left)
  to.addresses.push(...from.addresses)
  to.changes.push(...from.changes)
}

interface Planned extends CustomerWrites {
  readonly customer: Customer
}

const content = ({ city, country, firstName, lastName, line1, line2, phone, postalCode, state, type }: NewAddress) =>
  JSON.stringify([
    type,
    firstName,
    lastName,
    line1,
    line2 ?? null,
    city,
    state ?? null,
    postalCode ?? null,
    country,
    phone ?? null
  ])

/** Addresses that are not there yet. Of each type the one there is stays the default. */
const newAddresses = (customerId: string, record: CustomerRecord, known: ReadonlyArray<Address>) => {
  const contents = new Set(known.map(content))
  const defaults = new Set(known.filter(({ isDefault }) => isDefault).map(({ type }) => type))
  return (record.addresses ?? []).flatMap((sent): ReadonlyArray<Address> => {
    if (contents.has(content(sent))) return []
    contents.add(content(sent))
    const isDefault = sent.isDefault === true && !defaults.has(sent.type)
    if (isDefault) defaults.add(sent.type)
    return [{ ...addressOf(newId(), customerId, sent), isDefault }]
  })
}

/** The ids of the groups of a record; an unknown name is a new group. */
const groupsOf = (record: CustomerRecord, state: CustomerState, organizationId: string) => {
  const made: CustomerWrites["groups"] = []
  const ids = record.groups?.map((name) => {
    const known = state.groups.get(name)
    if (known !== undefined) return known
    const id = newId()
    state.groups.set(name, id)
    made.push({ id, organizationId, name, description: null, metadata: {}, createdAt: state.now, updatedAt: state.now })
    return id
  })
  return { made, ids }
}

/** What a file says replaces what was known, but for the mark of those who have no login. */
const metadataOver = ({ metadata }: CustomerRecord, before: Customer) =>
  metadata === undefined
    ? {}
    : { metadata: { ...metadata, ...(before.metadata["walkIn"] === true ? { walkIn: true } : {}) } }

const plan = (
  record: CustomerRecord,
  before: Customer | undefined,
  state: CustomerState,
  organizationId: string
): Planned | string => {
  const known = before === undefined ? [] : state.addresses.get(before.id) ?? []
  const own = before ?? newCustomer(record, { id: newId(), organizationId, now: state.now })
  const addresses = newAddresses(own.id, record, known)
  if (known.length + addresses.length > maxAddresses) return `A customer has ${maxAddresses} addresses at most.`
  // The address that he is known by stays as it was written first.
  const { groups: _, addresses: __, email: ___, ...fields } = record
  const profile = before === undefined
    ? own
    : changedCustomer(before, { ...fields, ...metadataOver(record, before) }, "replace", state.now)
  const { ids, made } = groupsOf(record, state, organizationId)
  const joined = ids?.filter((id) => !own.groupIds.includes(id)) ?? []
  const left = ids === undefined ? [] : own.groupIds.filter((id) => !ids.includes(id))
  const groupIds = [...own.groupIds.filter((id) => !left.includes(id)), ...joined]
  const customer = joined.length + left.length === 0 ? profile : { ...profile, groupIds, updatedAt: state.now }
  const isNew = before === undefined
  return {
    customer,
    created: isNew ? [customer] : [],
    changed: !isNew && customer !== before ? [customer] : [],
    groups: made,
    joined: joined.map((groupId) => ({ groupId, customerId: own.id })),
    left: left.map((groupId) => ({ groupId, customerId: own.id })),
    addresses,
    changes: [
      ...made.map((group): Change => ({
        type: "customerGroups.create",
        entityType: "customer_group",
        entityId: group.id,
        payload: group
      })),
      ...(isNew || customer !== before ? [customerChange(customer, before ?? null)] : []),
      ...addresses.map((address): Change => ({
        type: "customers.addAddress",
        entityType: "customer",
        entityId: own.id,
        payload: address
      }))
    ]
  }
}
