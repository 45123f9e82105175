import { Option, Schema } from "effect"
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict"
import { randomUUID } from "node:crypto"
import { systemActor } from "../../../domain/platform/access/Actor.ts"
import { developmentKeyring } from "../../../domain/webhooks/SecretEncryption.ts"
import type { Plugin } from "../Plugin.ts"
import type { AnyColumn } from "../tables/Column.ts"
import { type ExportedTable, exportOf, personalOf, undeclared } from "../tables/PersonalTables.ts"
import { pluginDatabase } from "../tables/PluginDatabaseRepo.ts"
import { columnName, type Table } from "../tables/Table.ts"
import { buildersOf } from "./Builders.ts"
import type { PluginCheck } from "./PluginCheck.ts"
import type { PluginTestApp } from "./PluginTestApp.ts"
import { inOrganization, testAdminActor, testCustomerActor } from "./TestActors.ts"

/** Whether a test may write any text into a column: a value that conditions look at is no text of a person. */
const isFree = ({ options: { checks = {}, personal } }: Table, name: string, { facts }: AnyColumn): boolean => {
  const keeps: ReadonlyArray<string> = personal !== undefined && "keeps" in personal ? personal.keeps ?? [] : []
  const named = Object.values(checks).some((condition) => new RegExp(`\\b${columnName(name)}\\b`).test(condition))
  return !named && !keeps.includes(name) && !facts.isList && !facts.isSecret &&
    (facts.among ?? facts.form ?? facts.reference) === undefined
}

/** A table, and the column that says about whom its rows are. */
type About = Pick<ExportedTable, "subject" | "table">

/** Texts with this word for every column of a table that can hold one. */
const textsOf = ({ subject, table }: About, word: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(table.columns).flatMap(([name, column]): ReadonlyArray<readonly [string, unknown]> => {
      if (name === subject?.column || !isFree(table, name, column)) return []
      if (column.facts.kind === "text") return [[name, `${word} ${name}`]]
      const object = { note: word, list: [{ deep: word }] }
      return column.facts.kind === "jsonb" && Option.isSome(Schema.decodeUnknownOption(column.schema)(object))
        ? [[name, object]]
        : []
    })
  )

/** Makes a row one about this person; a row of a parent or of another row is about theirs. */
const ofPerson = ({ subject }: About, values: Readonly<Record<"customer" | "order" | "user", unknown>>) =>
  subject === undefined || subject.kind === "row" ? {} : { [subject.column]: values[subject.kind] }

/** A customer of the organization, with an order that is done if rows are about orders. */
const aPerson = async (test: PluginTestApp, organization: string, hasOrder: boolean) => {
  const permissions = [...testCustomerActor.permissions, "customers:read:self", "customers:update:self"]
  const actor = { ...testCustomerActor, userId: `contract-${randomUUID()}`, permissions }
  const who = inOrganization(organization, actor)
  const { body } = await test.app.request("GET", "/api/me/profile", { as: who })
  const customerId = String(Reflect.get(Object(Reflect.get(Object(body), "data")), "id"))
  if (!hasOrder) return { who, customerId, orderId: undefined }
  const inStore: PluginTestApp["app"]["request"] = (method, path, request) =>
    test.app.request(method, path, { ...request, as: inOrganization(organization, testAdminActor) })
  const build = buildersOf({ app: { ...test.app, request: inStore } })
  const { id } = await build.order([[await build.product(), 1]])
  await test.db.query("update orders set customer_id = $1, status = 'fulfilled' where id = $2", [customerId, id])
  return { who, customerId, orderId: String(id) }
}

/** Where a text still is: tables of the plugins, and entries of the change log. */
const placesWith = async ({ db, plugins }: PluginTestApp, word: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const { name } of plugins.flatMap(({ tables }) => tables)) {
    const rows = await db.query(`select to_jsonb(t)::text as row from ${name} t where to_jsonb(t)::text like $1`, [
      `%${word}%`
    ])
    found.push(...rows.map(({ row }) => `${name}: ${String(row)}`))
  }
  const entries = await db.query(
    "select type, concat(payload, before) as row from outbox_events where concat(payload, before) like $1",
    [`%${word}%`]
  )
  return [...found, ...entries.map(({ row, type }) => `change log, ${String(type)}: ${String(row)}`)]
}

/** Makes the sample rows those of a person, with texts about them, and changes the texts so that entries have both. */
const writeTexts = async (
  { db, serviceRegistry: { run }, tables: { sql } }: PluginTestApp,
  { one, plugin }: { readonly one: About; readonly plugin: Plugin },
  { id, organization, subject, word }: {
    readonly id: string
    readonly organization: string
    readonly subject: Readonly<Record<string, unknown>>
    readonly word: string
  }
) => {
  const { table } = one
  const handle = pluginDatabase({ sql, keyring: developmentKeyring }, plugin).table(table)
  for (const part of ["first", "second"]) {
    await run(handle.update(id, { ...subject, ...textsOf(one, `${word}${part}`) }), systemActor(organization))
  }
  const rows = await db.query(`select 1 from ${table.name} t where to_jsonb(t)::text like $1`, [`%${word}%`])
  ok(rows.length > 0 || Object.keys(textsOf(one, word)).length === 0, `${table.name} has no text to erase`)
}

const declared: (app: PluginTestApp) => PluginCheck = ({ plugins }) => ({
  name: "every table that names a customer says what their erasure does to it",
  run: async () => {
    const missing = plugins.flatMap(({ tables }) =>
      tables.flatMap((table) => undeclared(table).map((column) => `${table.name}.${column}`))
    )
    ok(
      missing.length === 0,
      `Add \`personal\` to the tables of ${missing.join(", ")}: \`of\` and \`onErase\`, or \`exempt\`.`
    )
  }
})

/** The export of a person has every text about them but withheld ones; the export of another person has none. */
const exported = (
  app: PluginTestApp,
  organization: string,
  rows: () => Promise<ReadonlyMap<string, string>>
): PluginCheck => ({
  name: "the export of a customer's data has all their rows, without what tables withhold",
  run: async () => {
    const all = app.plugins.flatMap((plugin) =>
      plugin.tables.flatMap((table) => {
        const one = exportOf(table)
        return one === undefined ? [] : [{ plugin, one }]
      })
    )
    const ids = await rows()
    const needsOrder = all.some(({ one }) => one.subject?.kind === "order")
    const { who, ...person } = await aPerson(app, organization, needsOrder)
    const { who: other } = await aPerson(app, organization, false)
    const values = { customer: person.customerId, order: person.orderId, user: who.userId }
    const word = `person${randomUUID().replaceAll("-", "")}`
    for (const { one, plugin } of all) {
      const subject = ofPerson(one, values)
      await writeTexts(app, { one, plugin }, { id: ids.get(one.table.name) ?? "", organization, subject, word })
    }
    const asked = await app.app.request("GET", "/api/me/export", { as: who })
    const plugins = Object(Reflect.get(Object(Reflect.get(Object(asked.body), "data")), "plugins"))
    for (const { one: { table, withheld, ...one }, plugin } of all) {
      const key = `${plugin.id}/${table.name}`
      const [row] = Array.isArray(plugins[key]) ? plugins[key] : []
      ok(row?.id === ids.get(table.name), `The export has no row of ${key}`)
      for (const [name, value] of Object.entries(textsOf({ table, ...one }, `${word}second`))) {
        const expected = withheld.includes(name) ? undefined : value
        deepStrictEqual(row[name], expected, `The export has another value of ${key}.${name}`)
      }
    }
    const { body } = await app.app.request("GET", "/api/me/export", { as: other })
    ok(!JSON.stringify(body).includes(word), "The export of another customer has a text of this one")
  }
})

/** Whether tables say what an erasure does to them, and whether it does. `rows` are sample rows of the organization. */
export const erasure = (
  app: PluginTestApp,
  organization: string,
  rows: () => Promise<ReadonlyMap<string, string>>
): ReadonlyArray<PluginCheck> => {
  const all = app.plugins.flatMap((plugin) =>
    plugin.tables.flatMap((table) => {
      const one = personalOf(table)
      return one === undefined ? [] : [{ plugin, one }]
    })
  )
  const run = async () => {
    const ids = await rows()
    const needsOrder = all.some(({ one }) => one.subject?.kind === "order")
    const { customerId, orderId, who } = await aPerson(app, organization, needsOrder)
    const values = { customer: customerId, order: orderId, user: who.userId }
    const word = `person${randomUUID().replaceAll("-", "")}`
    for (const { one, plugin } of all) {
      const subject = ofPerson(one, values)
      await writeTexts(app, { one, plugin }, { id: ids.get(one.table.name) ?? "", organization, subject, word })
    }
    for (const attempt of ["first", "repeated"]) {
      const { body, status } = await app.app.request("DELETE", "/api/me", { as: who })
      strictEqual(status, 200, `The ${attempt} erasure answers ${status}: ${JSON.stringify(body)}`)
      const left = await placesWith(app, word)
      ok(left.length === 0, `After the ${attempt} erasure texts of the customer are left:\n${left.join("\n")}`)
    }
  }
  const name = "no table and no entry of the change log has a text of a customer after their erasure"
  return [declared(app), exported(app, organization, rows), ...(all.length === 0 ? [] : [{ name, run }])]
}
