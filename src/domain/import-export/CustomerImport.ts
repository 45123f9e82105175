import { Effect, Equal, Result, Schema, Struct } from "effect"
import {
  type Address,
  addressOf,
  changedCustomer,
  type Customer,
  customerChange,
  GivenAddress,
  maxAddresses,
  NewCustomer,
  newCustomer
} from "../customers/Customer.ts"
import type { CustomerGroup } from "../customers/CustomerGroup.ts"
import { groups } from "../customers/CustomerGroupRepo.ts"
import { addresses } from "../customers/CustomerRecordsRepo.ts"
import { customerReads, customers } from "../customers/CustomerRepo.ts"
import { changedExemption, exemptsOneself, SentTaxExemption } from "../customers/TaxExemption.ts"
import { CurrentActor, isSignedIn } from "../platform/access/Actor.ts"
import { addressIn } from "../platform/addresses/PostalAddress.ts"
import { linkTable, type RowBatch } from "../platform/batching/RowBatch.ts"
import { RowBatchRepo } from "../platform/batching/RowBatchRepo.ts"
import type { Issue } from "../platform/errors/ApiErrors.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import { CustomerGroupId, CustomerId, newId } from "../platform/ids/Id.ts"
import { emailKey, GivenEmail, normalizedMailbox } from "../platform/text/Email.ts"
import { maybe } from "../platform/text/Fields.ts"
import { StorableObject, Text } from "../platform/text/Storable.ts"
import { type BatchContext, refused, upsertOf } from "./Upsert.ts"

/**
 * A customer, identified by e-mail address in any case. Absent keys keep the current value; `groups` replaces the
 * customer's groups; addresses are added.
 */
export const CustomerRecord = Schema.Struct({
  email: GivenEmail.check(Schema.isMinLength(1)),
  occurrence: maybe(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })).annotate({
      description:
        "Which of the customers with this address, in the order in which they were made. Default: the only one."
    })
  ),
  ...Struct.pick(NewCustomer.fields, ["firstName", "lastName", "phone"]),
  groups: Schema.optional(Schema.Array(Text).check(Schema.isMaxLength(100))),
  taxExemption: maybe(SentTaxExemption),
  metadata: maybe(StorableObject),
  addresses: Schema.optional(Schema.Array(GivenAddress).check(Schema.isMaxLength(20)))
}).annotate({ identifier: "CustomerRecord" })
export type CustomerRecord = typeof CustomerRecord.Type

const members = linkTable(
  "customer_group_members",
  "group_id, customer_id",
  Schema.Struct({ groupId: CustomerGroupId, customerId: CustomerId })
)

export const orderOwners = Effect.map(customerReads, ({ ownersOf }) => ownersOf)

export const customerImport = Effect.gen(function*() {
  const rows = yield* RowBatchRepo
  const reads = yield* customerReads
  const hooks = yield* Hooks

  const load = Effect.fn("CustomerImport.load")(function*(records: ReadonlyArray<CustomerRecord>) {
    const found = yield* reads.byEmail(records.map(({ email }) => email))
    const addressesOf = yield* rows.find(addresses, "customer_id", found.map(({ id }) => id))
    const named = yield* rows.find(groups, "name", records.flatMap((record) => record.groups ?? []), "key share")
    const sender = yield* CurrentActor
    return {
      userId: isSignedIn(sender) ? sender.userId : null,
      customers: Map.groupBy(found, ({ email }) => emailKey(email ?? "")),
      addresses: Map.groupBy(addressesOf, ({ customerId }) => customerId),
      groups: new Map<string, NamedGroup>(named.map((group) => [group.name, group]))
    }
  })

  return yield* upsertOf(load, (record, state, draft) => {
    const found = state.customers.get(emailKey(record.email)) ?? []
    const { occurrence } = record
    if (found.length > 1 && typeof occurrence !== "number") {
      return refused(
        "email",
        `${found.length} customers have this address: say in occurrence which of them is meant.`,
        "ambiguous"
      )
    }
    const before = found[(occurrence ?? 1) - 1]
    if (before === undefined && normalizedMailbox(record.email) === undefined) {
      return refused("email", "email must be one e-mail address, such as ann@example.com.", "format")
    }
    const profile = profileOf(record, before, state)
    const stored = before === undefined ? [] : state.addresses.get(before.id) ?? []
    const added = newAddresses(profile.id, record, stored)
    if (stored.length + added.length > maxAddresses) {
      return refused("addresses", `addresses must have at most ${maxAddresses} entries.`, "too_many")
    }
    const exempting = ownExemption(profile, record, before, state)
    if (exempting !== undefined) return refused(exempting, exemptsOneself, "forbidden")
    const customer = putGroups(profile, record, state, draft)
    if (customer !== before) {
      draft.put(customers, customer)
      draft.change(customerChange(customer, before ?? null))
    }
    draft.later.put(addresses, ...added)
    draft.warnings.push(...added.filter(({ unchecked }) => unchecked).map(malformed))
    const of = { type: "customers.addAddress", entityType: "customer", entityId: customer.id } as const
    draft.change(...added.map((payload) => ({ ...of, payload })))
    const key = before === undefined ? "customers.afterCreate" : "customers.afterUpdate"
    if (draft.changes.length > 0) draft.after(hooks.after(key, customer))
    return Result.succeed(before === undefined ? "new" : "stored")
  })
})

/** The e-mail address keeps its first spelling, and a walk-in stays one. */
const profileOf = (record: CustomerRecord, before: Customer | undefined, { now, organizationId }: BatchContext) => {
  if (before === undefined) {
    const taxExemption = changedExemption(record.taxExemption, null)
    return { ...newCustomer(record, { id: newId(), organizationId, now }), taxExemption }
  }
  const { addresses: _, email: __, groups: ___, metadata, occurrence: ____, ...fields } = record
  const walkIn = before.metadata["walkIn"] === true ? { walkIn: true } : {}
  const change = metadata === undefined ? fields : { ...fields, metadata: { ...metadata, ...walkIn } }
  return changedCustomer(before, change, "replace", now)
}

type NamedGroup = Pick<CustomerGroup, "id" | "taxExemption">

/** The field by which the sender of the file would exempt themselves; an exemption that they have stays. */
const ownExemption = (
  { groupIds, taxExemption }: Customer,
  record: CustomerRecord,
  before: Customer | undefined,
  { groups, userId }: { readonly userId: string | null; readonly groups: ReadonlyMap<string, NamedGroup> }
): "taxExemption" | "groups" | undefined => {
  if (before === undefined || before.userId !== userId) return undefined
  if (taxExemption !== null && !Equal.equals(taxExemption, before.taxExemption)) return "taxExemption"
  const joins = ({ id, taxExemption }: NamedGroup) => taxExemption !== null && !groupIds.includes(id)
  return record.groups?.map((name) => groups.get(name)).some((group) => group !== undefined && joins(group))
    ? "groups"
    : undefined
}

const putGroups = (
  profile: Customer,
  record: CustomerRecord,
  state: BatchContext & { readonly groups: Map<string, NamedGroup> },
  draft: RowBatch
): Customer => {
  if (record.groups === undefined) return profile
  const ids = record.groups.map((name) => (state.groups.get(name) ?? newGroup(name, state, state.groups, draft)).id)
  const wanted = new Set<string>(ids)
  const joined = ids.filter((id) => !profile.groupIds.includes(id))
  const left = profile.groupIds.filter((id) => !wanted.has(id))
  if (joined.length + left.length === 0) return profile
  const customerId = profile.id
  draft.later.put(members, ...joined.map((groupId) => ({ groupId, customerId })))
  draft.later.remove(members, ...left.map((groupId) => ({ groupId: CustomerGroupId.make(groupId), customerId })))
  const kept = profile.groupIds.filter((id) => !left.includes(id))
  return { ...profile, groupIds: [...kept, ...joined], updatedAt: state.now }
}

const newGroup = (
  name: string,
  { now, organizationId }: BatchContext,
  known: Map<string, NamedGroup>,
  draft: RowBatch
) => {
  const times = { createdAt: now, updatedAt: now }
  const group: CustomerGroup = {
    id: newId(),
    organizationId,
    name,
    description: null,
    taxExemption: null,
    metadata: {},
    ...times
  }
  known.set(name, group)
  draft.put(groups, group)
  draft.change({ type: "customerGroups.create", entityType: "customer_group", entityId: group.id, payload: group })
  return group
}

const malformed = ({ country }: Address): Issue => ({
  path: "addresses",
  message: `addresses has one that is not in the form of its country (${country}). It is kept as given.`,
  code: "format"
})

/** An existing default address of a type stays the default. */
const newAddresses = (customerId: CustomerId, { addresses = [] }: CustomerRecord, stored: ReadonlyArray<Address>) => {
  const contentOf = (one: Address) => JSON.stringify(Object.entries({ ...one, id: null, isDefault: null }).toSorted())
  const contents = new Set(stored.map(contentOf))
  const defaults = new Set(stored.filter(({ isDefault }) => isDefault).map(({ type }) => type))
  return addresses.flatMap((sent): ReadonlyArray<Address> => {
    const address = addressOf(newId(), customerId, { ...sent, ...addressIn(sent) })
    if (contents.has(contentOf(address))) return []
    contents.add(contentOf(address))
    const isDefault = sent.isDefault === true && !defaults.has(sent.type)
    if (isDefault) defaults.add(sent.type)
    return [{ ...address, isDefault }]
  })
}
