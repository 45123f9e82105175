import { Context, Effect, Layer, Result } from "effect"
import { currentOrganization } from "../access/Actor.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { newId } from "../ids/Id.ts"
import type { ImportBatch, ImportTable } from "../import-export/ImportBatch.ts"
import { refused, type Upsert, upsertOf } from "../import-export/Upsert.ts"
import { type Address, addressOf, maxAddresses, type NewAddress } from "./Address.ts"
import type { Customer } from "./Customer.ts"
import type { CustomerGroup } from "./CustomerGroup.ts"
import { CustomerImportRepo, type CustomerState } from "./CustomerImportRepo.ts"
import type { CustomerRecord } from "./CustomerRecord.ts"
import { customerChange } from "./CustomerRows.ts"
import { changedCustomer, newCustomer } from "./CustomerRules.ts"

const customers: ImportTable = {
  name: "customers",
  columns: {
    id: "uuid",
    userId: "text",
    email: "text",
    phone: "text",
    firstName: "text",
    lastName: "text",
    metadata: "jsonb",
    createdAt: "timestamptz",
    updatedAt: "timestamptz"
  },
  key: "id"
}

const customerGroups: ImportTable = {
  name: "customer_groups",
  columns: { id: "uuid", name: "text", metadata: "jsonb" },
  key: "id",
  updates: []
}

const memberships: ImportTable = {
  name: "customer_group_members",
  columns: { groupId: "uuid", customerId: "uuid" },
  key: "group_id, customer_id",
  updates: []
}

const customerAddresses: ImportTable = {
  name: "customer_addresses",
  columns: {
    id: "uuid",
    customerId: "uuid",
    type: "text",
    isDefault: "boolean",
    firstName: "text",
    lastName: "text",
    line1: "text",
    line2: "text",
    city: "text",
    state: "text",
    postalCode: "text",
    country: "text",
    phone: "text"
  },
  key: "id",
  updates: []
}

/** Imports customers. */
export class CustomerImport extends Context.Service<CustomerImport, {
  readonly upsert: Upsert<CustomerRecord>
  readonly ownersOf: CustomerImportRepo["Service"]["ownersOf"]
  readonly groupsNamed: CustomerImportRepo["Service"]["groupsNamed"]
}>()("stoa/domain/customers/CustomerImport") {
  static readonly layer = Layer.effect(
    CustomerImport,
    Effect.gen(function*() {
      const repo = yield* CustomerImportRepo
      const hooks = yield* Hooks

      const load = Effect.fnUntraced(function*(records: ReadonlyArray<CustomerRecord>) {
        return { ...yield* repo.read(records), organizationId: yield* currentOrganization }
      })

      const upsert = yield* upsertOf(load, (record, state, draft) => {
        const found = state.customers.get(record.email.toLowerCase()) ?? []
        if (found.length > 1) return refused("email", "Several customers have this address.", "ambiguous")
        const [before] = found
        const profile = profileOf(record, before, state)
        const known = before === undefined ? [] : state.addresses.get(before.id) ?? []
        const added = newAddresses(profile.id, record, known)
        if (known.length + added.length > maxAddresses) {
          return refused("addresses", `A customer has ${maxAddresses} addresses at most.`, "too_many")
        }
        const customer = putGroups(profile, record, state, draft)
        if (customer !== before) {
          draft.put(customers, customer)
          draft.change(customerChange(customer, before ?? null))
        }
        draft.later.put(customerAddresses, ...added)
        draft.change(
          ...added.map((payload) =>
            ({ type: "customers.addAddress", entityType: "customer", entityId: customer.id, payload }) as const
          )
        )
        const key = before === undefined ? "customers.afterCreate" : "customers.afterUpdate"
        if (draft.changes.length > 0) draft.after(hooks.after(key, customer))
        return Result.succeed(before === undefined ? "new" : "known")
      })
      return { upsert, ownersOf: repo.ownersOf, groupsNamed: repo.groupsNamed }
    })
  )
}

interface State extends CustomerState {
  readonly organizationId: string
}

/** The profile after the record. The e-mail address keeps its first spelling, and a walk-in stays one. */
const profileOf = (record: CustomerRecord, before: Customer | undefined, { now, organizationId }: State): Customer => {
  if (before === undefined) return newCustomer(record, { id: newId(), organizationId, now })
  const { addresses: _, email: __, groups: ___, metadata, ...fields } = record
  const walkIn = before.metadata["walkIn"] === true ? { walkIn: true } : {}
  const change = metadata === undefined ? fields : { ...fields, metadata: { ...metadata, ...walkIn } }
  return changedCustomer(before, change, "replace", now)
}

/** Sets the customer's groups to those of the record, and creates missing groups. */
const putGroups = (profile: Customer, record: CustomerRecord, state: State, draft: ImportBatch): Customer => {
  if (record.groups === undefined) return profile
  const ids = record.groups.map((name) => state.groups.get(name) ?? newGroup(name, state, draft))
  const joined = ids.filter((id) => !profile.groupIds.includes(id))
  const left = profile.groupIds.filter((id) => !ids.includes(id))
  if (joined.length + left.length === 0) return profile
  const customerId = profile.id
  draft.later.put(memberships, ...joined.map((groupId) => ({ groupId, customerId })))
  draft.later.remove(memberships, ...left.map((groupId) => ({ groupId, customerId })))
  return {
    ...profile,
    groupIds: [...profile.groupIds.filter((id) => !left.includes(id)), ...joined],
    updatedAt: state.now
  }
}

const newGroup = (name: string, { groups, now, organizationId }: State, draft: ImportBatch): string => {
  const times = { createdAt: now, updatedAt: now }
  const group: CustomerGroup = { id: newId(), organizationId, name, description: null, metadata: {}, ...times }
  groups.set(name, group.id)
  draft.put(customerGroups, group)
  draft.change({ type: "customerGroups.create", entityType: "customer_group", entityId: group.id, payload: group })
  return group.id
}

const contentOf = (one: NewAddress) =>
  JSON.stringify([
    one.type,
    one.firstName,
    one.lastName,
    one.line1,
    one.line2 ?? null,
    one.city,
    one.state ?? null,
    one.postalCode ?? null,
    one.country,
    one.phone ?? null
  ])

/** Addresses that do not exist yet. An existing default of a type stays the default. */
const newAddresses = (customerId: string, record: CustomerRecord, known: ReadonlyArray<Address>) => {
  const contents = new Set(known.map(contentOf))
  const defaults = new Set(known.filter(({ isDefault }) => isDefault).map(({ type }) => type))
  return (record.addresses ?? []).flatMap((sent): ReadonlyArray<Address> => {
    if (contents.has(contentOf(sent))) return []
    contents.add(contentOf(sent))
    const isDefault = sent.isDefault === true && !defaults.has(sent.type)
    if (isDefault) defaults.add(sent.type)
    return [{ ...addressOf(newId(), customerId, sent), isDefault }]
  })
}
