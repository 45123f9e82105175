import { Context, Effect, Layer } from "effect"
import {
  boolean,
  childOf,
  date,
  definePlugin,
  group,
  integer,
  list,
  machine,
  oneOf,
  ownedBy,
  resource,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"

export const suppliers = table("supply_suppliers", {
  code: text.unique(),
  name: text,
  email: text.nullable,
  status: oneOf(["candidate", "approved", "blocked"]).default("candidate"),
  approvedAt: timestamp.nullable,
  approvedBy: text.nullable,
  channels: list(oneOf(["mail", "edi"])).default([]),
  isLocal: boolean.default(false),
  leadDays: integer.default(7),
  since: date.nullable
})

export const contacts = childOf(suppliers, "supplierId", "supply_contacts", {
  supplierId: uuid.references(suppliers, "restrict"),
  name: text
})

/** What buyers ask a supplier for. */
export const inquiries = table("supply_inquiries", { item: text, askedBy: text })

export const supplier = machine(suppliers, {
  noun: "supplier",
  moves: {
    approve: { from: ["candidate", "blocked"], to: "approved", stamp: "approvedAt", by: "approvedBy" },
    blockForNow: { from: ["approved"], to: "blocked" }
  }
})

export class Codes extends Context.Service<Codes, { readonly next: Effect.Effect<string> }>()("supply/Codes") {
  static readonly layer = Layer.sync(Codes, () => {
    let made = 0
    return { next: Effect.sync(() => `S-${++made}`) }
  })
}

const routes = group("Supply", "/supply")

/** Suppliers by `resource` alone, their contacts, and routes of which some are left out or replaced. */
export const supply = definePlugin({
  id: "supply",
  version: "1.0.0",
  permissions: [
    { scope: "supply:read", description: "See suppliers" },
    { scope: "supply:write", description: "Change suppliers" },
    { scope: "supply:block", description: "Block suppliers" }
  ],
  schema: () => ({ suppliers, contacts, inquiries }),
  layer: Codes.layer,
  routes: () => [
    ...resource(routes, "/suppliers", suppliers, {
      noun: "supplier",
      read: "supply:read",
      write: "supply:write",
      filters: ["status", "channels", "isLocal", "leadDays", "since"],
      search: ["name", "email"],
      order: ["code"],
      machine: supplier,
      moves: { blockForNow: "supply:block" }
    }),
    ...resource(routes, "/contacts", contacts, { noun: "contact", read: { auth: true }, write: "supply:write" }),
    ...resource(routes, "/inquiries", inquiries, {
      noun: "inquiry",
      read: { auth: true },
      write: { auth: true },
      visible: ownedBy(inquiries, { user: "askedBy", staff: "supply:write" }),
      search: ["item"],
      without: ["askedBy"],
      create: ({ actor, db, input }) => db.table(inquiries).insert({ ...input, askedBy: actor.userId ?? "" })
    }),
    ...resource(routes, "/quick-suppliers", suppliers, {
      noun: "quick supplier",
      read: "supply:read",
      write: "supply:write",
      filters: ["leadDays"],
      without: ["code"],
      list: ({ db, page, where }) => db.table(suppliers).page({ ...where, isLocal: true }, page),
      create: ({ db, input }) =>
        Effect.flatMap(
          Codes,
          ({ next }) => Effect.flatMap(next, (code) => db.table(suppliers).insert({ ...input, code, isLocal: true }))
        ),
      patch: ({ db, input, which }) => db.table(suppliers).update(which, { ...input, email: null }),
      get: false,
      remove: false
    })
  ]
})
