import { join } from "node:path"
import { type Entry, programOf, Symbols } from "./Symbols.ts"

const root = join(import.meta.dirname, "../..")
const kit = join(root, "src/plugins/kit/StoaPlugin.ts")
const testing = join(root, "src/plugins/kit/testing/StoaTesting.ts")
const events = join(root, "src/domain/platform/events/Event.ts")
const hooks = join(root, "src/domain/platform/hooks/HookMap.ts")
/** Says what the services are. */
const registry = join(root, "src/layers/ServiceRegistry.ts")

/** Where the page is, from the root of the project. */
export const pagePath = "docs/reference/plugins.md"

const intro = `# Reference for plugins

\`npm run reference\` writes this page from the types and their comments. [Plugins](../plugins.md) explains how they are used.
A type is shown as \`Effect<answer, errors, services>\`; a long one is cut off.
`

const lineOf = ({ name, says, signature }: Entry): string => {
  // A type that only has its name says nothing more.
  const isNamed = signature === name || signature.startsWith(`${name}<`)
  const code = isNamed ? signature : `${name}: ${signature}`
  return `- \`${code.replaceAll("`", "'")}\`${says === "" ? "" : `\n  ${says}`}`
}

const section = (title: string, entries: ReadonlyArray<Entry>, says = "", depth = 2): string =>
  `${"#".repeat(depth)} ${title}\n\n${says === "" ? "" : `${says}\n\n`}${entries.map(lineOf).join("\n")}\n`

/** Types whose members are shown, with the title of their section. */
const shapes: ReadonlyArray<readonly [name: string, title: string]> = [
  ["PluginManifest", "The manifest"],
  ["PluginContext", "`PluginContext`: what a plugin is built with"],
  ["PluginCall", "`PluginCall`: what every handler gets"],
  ["RouteCall", "The call of a route"],
  ["RawCall", "The call of a route of bytes"],
  ["EventCall", "The call of an event"],
  ["PluginTask", "Tasks"],
  ["TableOptions", "Options of a table"],
  ["Column", "What a column can say"],
  ["TableHandle", "`db.table(t)`"],
  ["GroupOptions", "Options of `group`"],
  ["RawGroupOptions", "Options of a `group` of routes of bytes"],
  ["CommonOptions", "Options of every route"],
  ["RouteOptions", "Options of a route"],
  ["RawOptions", "Options of a route of bytes"],
  ["ResourceOptions", "Options of `resource`"],
  ["Parent", "`of` of `resource`"],
  ["MoveOptions", "Options of `moveOf`"],
  ["DueOptions", "Options of `dueTask`"],
  ["ModelOptions", "Options of `modelOf`"],
  ["LiveFeedOptions", "Options of `liveFeed`"],
  ["OutboundOptions", "Options of `outbound`"],
  ["OutboundRequest", "Requests of `outbound`"]
]

/** The text of the page. */
export const referencePage = (): string => {
  const symbols = new Symbols(programOf(root, [kit, testing, events, hooks, registry]))
  const all = symbols.exportsOf(kit)
  const named = (name: string, among = all) => {
    const found = among.find((one) => one.name === name)
    if (found === undefined) throw new Error(`Nothing is called ${name}.`)
    return found
  }
  const database = named("PluginDatabase")
  const entries = (of: ReturnType<typeof symbols.membersOf>) => of.map((one) => symbols.entryOf(one))
  const isFrom = (folder: string) => (one: typeof all[number]) => symbols.fileOf(one).includes(folder)
  const values = all.filter((one) => !symbols.isType(one))
  const columns = values.filter(isFrom("/kit/tables/ColumnKinds.ts"))
  const functions = values.filter((one) => isFrom("/src/plugins/kit/")(one) && !columns.includes(one))
  const rest = values.filter((one) => !isFrom("/src/plugins/kit/")(one))
  const services = symbols.membersOf(named("CoreServices"))
  const hookMap = symbols.exportsOf(hooks)

  const words = symbols.wordsOf(named("EventType", symbols.exportsOf(events)))

  return [
    intro,
    ...shapes.slice(0, 7).map(([name, title]) => section(title, entries(symbols.membersOf(named(name))))),
    section("Columns", entries(columns)),
    ...shapes.slice(7, 10).map(([name, title]) => section(title, entries(symbols.membersOf(named(name))))),
    section("`db`", entries(symbols.membersOf(database))),
    section("Functions of the kit", entries(functions)),
    ...shapes.slice(10).map(([name, title]) => section(title, entries(symbols.membersOf(named(name))))),
    "## Services of the core\n",
    ...services.map((one) =>
      section(`\`services.${one.name}\``, entries(symbols.membersOf(one)), symbols.entryOf(one).says, 3)
    ),
    section("Hooks before", entries(symbols.membersOf(named("BeforeHooks", hookMap)))),
    section("Hooks after", entries(symbols.membersOf(named("AfterHooks", hookMap)))),
    `## Events of the core\n\n${words.map((word) => `\`${word}\``).join(", ")}\n`,
    section("What else is exported", entries(rest)),
    section("Types", entries(all.filter((one) => symbols.isType(one)))),
    section("Tests (`stoa/plugin/testing`)", entries(symbols.exportsOf(testing))),
    section("Records", symbols.records())
  ].join("\n")
}
