import type { BroughtMail } from "../../../domain/mail/PluginMails.ts"
import type { Hook } from "../../../domain/platform/hooks/Hook.ts"
import { canonicalLocale } from "../../../layers/mail/MailTexts.ts"
import { namesOf } from "../events/EventHandler.ts"
import type { InstalledPlugin, Plugin } from "../Plugin.ts"
import { subjectIn } from "../tables/Personal.ts"
import { personalOf } from "../tables/PersonalTables.ts"
import { isLookedUpBy, ofRowBounds } from "./RowBoundRules.ts"

/** What of the core plugins may not take for themselves. */
export interface CoreNames {
  readonly modules: ReadonlyArray<string>
  readonly permissions: ReadonlyArray<string>
  readonly events: ReadonlyArray<string>
  /** Roles of the deployment. */
  readonly roles: ReadonlyArray<string>
}

const idForm = /^[a-z][a-z0-9-]{0,30}$/
const semver = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/
const scopeForm = /^[a-z][a-z0-9-]*(:[a-z][a-z0-9-]*)+$/

/** Who has a name already, by name. */
export class Owners {
  readonly #of = new Map<string, string>()

  constructor(core: ReadonlyArray<string> = []) {
    for (const name of core) this.#of.set(name, "the core")
  }

  /** Takes a name; gives who has it when it is taken. */
  take(name: string, owner: string): string | undefined {
    const other = this.#of.get(name)
    if (other === undefined) this.#of.set(name, owner)
    return other
  }
}

const called = ({ id }: Pick<Plugin, "id">): string => `plugin "${id}"`

const ofManifest = (plugin: Plugin): ReadonlyArray<string> => [
  ...(idForm.test(plugin.id)
    ? []
    : [`Plugin "${plugin.id}": an id has lower case letters, digits and hyphens, at most 31, a letter first.`]),
  ...(semver.test(plugin.version)
    ? []
    : [`Plugin "${plugin.id}": version "${plugin.version}" is not semantic (1.2.3).`]),
  ...plugin.permissions.filter(({ scope }) => !scopeForm.test(scope)).map(({ scope }) =>
    `Plugin "${plugin.id}": permission "${scope}" is not of the form "${plugin.id}:action".`
  )
]

const ofRoles = ({ id, permissions }: Plugin, known: ReadonlyArray<string>): ReadonlyArray<string> =>
  permissions.flatMap(({ roles = [], scope }) =>
    roles.filter((role) => !known.includes(role)).map((role) =>
      `Plugin "${id}": permission "${scope}" names the role "${role}", which this deployment does not have.`
    )
  )

/** Names begin with the plugin's, so that no two plugins have one. */
const ofNames = (id: string, kind: string, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.filter((name) => !new RegExp(`^${id}/[A-Za-z][A-Za-z0-9-]*$`).test(name)).map((name) =>
    `Plugin "${id}": the name of the ${kind} "${name}" is not of the form "${id}/name".`
  )

/** Figures of a child table are those of its parents' organization. */
const ofModels = ({ analyticsModels, id, tables }: Plugin): ReadonlyArray<string> =>
  analyticsModels().filter(({ parent, table }) =>
    parent === undefined && tables.some(({ kind, name }) => kind === "child" && name === table)
  ).map(({ name, table }) =>
    `Plugin "${id}": the analytics model "${name}" needs \`parent\`, because rows of "${table}" name no organization.`
  )

/** Rows about the customer of another row refer to a row that names one. */
const ofSubjects = ({ id, tables }: Plugin): ReadonlyArray<string> =>
  tables.flatMap((table) => {
    const subject = subjectIn(table)
    if (subject?.kind !== "row") return []
    const owner = tables.find(({ name }) => name === subject.table)
    const ofOwner = owner && subjectIn(owner)
    return ofOwner !== undefined && ofOwner.kind !== "row" ? [] : [
      `Plugin "${id}": table "${table.name}" is personal by "${subject.column}", but rows of "${subject.table}" say of ` +
      "no customer whose they are. Name a customer or an order there (`personal.of`)."
    ]
  })

/** Rows that an erasure deletes are kept by no other row. */
const ofPersonal = ({ id, tables }: Plugin): ReadonlyArray<string> =>
  tables.flatMap(({ columns, name }) =>
    Object.entries(columns).flatMap(([column, { facts: { reference } }]) => {
      const other = tables.find((one) => one.name === reference?.table)
      const personal = other && personalOf(other)
      return reference?.onDelete === "restrict" && personal !== undefined && personal.blanked === undefined
        ? [
          `Plugin "${id}": column "${column}" of table "${name}" refers to "${personal.table.name}" with "restrict", so ` +
          "the erasure of a customer could not delete that row. Refer to it with \"cascade\" or \"set null\"."
        ]
        : []
    })
  )

const categoryForm = /^[a-z][a-z0-9-]{0,49}$/

/** A template says why its mails are sent; its type asks for that, and plugins without types meet this. */
const ofPurpose = (id: string, { name, purpose }: Partial<BroughtMail>): ReadonlyArray<string> => {
  if (purpose === "order" || purpose === "transactional" || purpose === "ofEachMail") return []
  return typeof purpose === "object" && categoryForm.test(purpose.category)
    ? []
    : [
      `Plugin "${id}": the mail template "${name}" must say its \`purpose\`: "order", "transactional" for what the receiver ` +
      "asked for, or { category } in small letters for mails that receivers can decline."
    ]
}

/** The languages of a mail are tags as programs write them. */
const ofMails = ({ id, mailTemplates }: Plugin): ReadonlyArray<string> =>
  mailTemplates.flatMap(({ name, purpose, writers }) => [
    ...ofNames(id, "mail template", [name]),
    ...ofPurpose(id, { name, purpose }),
    ...Object.keys(writers).filter((tag) => canonicalLocale(tag) !== tag).map((tag) =>
      `Plugin "${id}": the mail template "${name}" has texts for "${tag}", which is no language tag such as de or de-AT.`
    )
  ])

/** The slug of its task is a name in the database. */
const maxKey = 200

const ofEvents = (plugins: ReadonlyArray<Plugin>, core: CoreNames): ReadonlyArray<string> => {
  const known = [...core.events, ...plugins.flatMap(({ events }) => events)]
  return plugins.flatMap(({ id, subscribesTo }) =>
    subscribesTo.filter((key) => key.length > maxKey || namesOf(key, known, plugins).length === 0).map((key) =>
      `Plugin "${id}": onEvents names "${
        key.slice(0, maxKey)
      }", which is no event of the core or of an installed plugin.`
    )
  )
}

const ofRequires = (plugins: ReadonlyArray<Plugin>): ReadonlyArray<string> =>
  plugins.flatMap((plugin, at) =>
    plugin.requires.flatMap((required) => {
      const other = plugins.findIndex(({ id }) => id === required)
      if (other === -1) return [`Plugin "${plugin.id}" requires plugin "${required}", which is not installed.`]
      return other < at
        ? []
        : [`Plugin "${plugin.id}" requires plugin "${required}", which has to come before it in the list.`]
    })
  )

const ofUses = (plugins: ReadonlyArray<Plugin>): ReadonlyArray<string> =>
  plugins.flatMap(({ id, requires, uses }) => {
    const exported = new Set(plugins.filter((other) => requires.includes(other.id)).flatMap(({ exports }) => exports))
    return uses.filter((key) => !exported.has(key)).map((key) =>
      `Plugin "${id}" uses the service "${key}", which no plugin that it requires exports.`
    )
  })

const doubles = (
  plugins: ReadonlyArray<Plugin>,
  kind: string,
  namesOf: (plugin: Plugin) => ReadonlyArray<string>,
  core: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  const owners = new Owners(core)
  return plugins.flatMap((plugin) =>
    namesOf(plugin).flatMap((name) => {
      const other = owners.take(name, called(plugin))
      return other === undefined ? [] : [`${kind} "${name}" of ${called(plugin)} belongs to ${other} already.`]
    })
  )
}

/** What cannot be right about the plugins of a deployment, a sentence each; both parties of a clash are named. */
export const flawsOf = (plugins: ReadonlyArray<Plugin>, core: CoreNames): ReadonlyArray<string> => [
  ...plugins.flatMap(({ flaws }) => flaws),
  ...plugins.flatMap(ofManifest),
  ...plugins.flatMap((plugin) => ofRoles(plugin, core.roles)),
  ...doubles(plugins, "The id", ({ id }) => [id], core.modules),
  ...ofRequires(plugins),
  ...doubles(plugins, "The exported service", ({ exports }) => exports),
  ...ofUses(plugins),
  ...doubles(plugins, "The key scope", ({ keyScopes }) => Object.keys(keyScopes)),
  ...doubles(plugins, "The table", ({ tables }) => tables.map(({ name }) => name)),
  ...plugins.flatMap(ofMails),
  ...plugins.flatMap(ofModels),
  ...plugins.flatMap(ofPersonal),
  ...plugins.flatMap(ofSubjects),
  ...plugins.flatMap(ofRowBounds),
  ...doubles(plugins, "The mail template", ({ mailTemplates }) => mailTemplates.map(({ name }) => name)),
  ...plugins.flatMap(({ entities, id }) => ofNames(id, "entity", entities)),
  ...plugins.flatMap(({ id, workflows }) => ofNames(id, "workflow", workflows)),
  ...doubles(plugins, "The entity", ({ entities }) => entities),
  ...doubles(plugins, "The workflow", ({ workflows }) => workflows),
  ...ofEvents(plugins, core),
  ...doubles(plugins, "The permission", ({ permissions }) => permissions.map(({ scope }) => scope), core.permissions),
  ...doubles(plugins, "The event", ({ events }) => events, core.events)
]

/**
 * What cannot be right about conditions of hooks, order projections and events (`entitiesIn`, `ordersIn`, `rowsIn`):
 * statements of the core look into their tables for each entity, order and event.
 */
export const conditionFlaws = (
  deployment: { readonly hooks: ReadonlyArray<Hook>; readonly plugins: ReadonlyArray<Plugin> },
  installed: ReadonlyArray<InstalledPlugin>
): ReadonlyArray<string> => {
  const limits = installed.flatMap(({ orderProjection }) => orderProjection?.only ?? [])
  const hooks = [...deployment.hooks, ...installed.flatMap((one) => one.hooks)]
  const named = [
    ...[...hooks, ...limits].flatMap(({ entitiesIn }) =>
      entitiesIn === undefined || !("name" in entitiesIn) ? [] : [[entitiesIn.name, "entityId"] as const]
    ),
    ...limits.flatMap(({ ordersIn }) => ordersIn === undefined ? [] : [[ordersIn.name, "orderId"] as const]),
    ...installed.flatMap(({ onEvents }) => Object.values(onEvents)).flatMap(({ only }) => only?.rowsIn ?? [])
      .map(({ column, table }) => [table.name, column] as const)
  ]
  return named.flatMap(([name, column]) => {
    const table = deployment.plugins.flatMap(({ tables }) => tables).find((one) => one.name === name)
    if (table === undefined) return [`A condition names the table "${name}", which no plugin has in its \`schema\`.`]
    return column === undefined || isLookedUpBy(table, column)
      ? []
      : [`A condition names the table "${name}": make "${column}" unique there, or the first column of an index.`]
  })
}
