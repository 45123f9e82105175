/**
 * The rooms of the house and the doors between them: `http → workflows → entities → domain → SQL`, one direction;
 * `layers` and `main.ts` stand outside and wire. Every path is relative to the project, with forward slashes.
 */
export interface Room {
  readonly name: string
  /** Which files lie in the room; the first room that matches wins. */
  readonly files: RegExp
  /** Names of the rooms its files may import from, besides their own. */
  readonly rooms: ReadonlyArray<string>
  /** Packages its files may not import. */
  readonly refused: ReadonlyArray<RegExp>
}

const sql = /^effect\/sql(\/|$)/
const drivers = /^(@effect\/.*|pg|pg-.*|undici)$/
/** What would let a rule or a service reach the world: it belongs in entities, workflows, http or layers. */
const outward =
  /^effect\/(cluster|workflow|http|http-api|rpc|net|socket|process|persistence|workers|cli|devtools|eventlog)(\/|$)/
/** Its index loads a Redis client at each start: its modules are imported one by one. */
const platformIndex = /^@effect\/platform-node$/
/** Everything from npm or Node but Effect and what only computes: hashes and identifiers. */
const foreign = /^(?!effect(\/|$)|node:crypto$|uuid$)/

const core = ["domain", "domain repositories", "kernel repositories"]

export const rooms: ReadonlyArray<Room> = [
  { name: "tests", files: /^(test|bench|scripts)\//, rooms: ["*"], refused: [] },
  // Examples see of the project what its package exports, as whoever takes after them does.
  { name: "examples", files: /^examples\//, rooms: [], refused: [drivers] },
  { name: "layers", files: /^src\/(layers\/|main\.ts$)/, rooms: ["*"], refused: [platformIndex] },
  {
    name: "kernel repositories",
    files:
      /^src\/domain\/(money|access|paging|hooks|events|idempotency|modules|batching)\/(.+\/)?(\w*Repo|[Mm]igrations)\.ts$/,
    rooms: ["domain"],
    refused: [outward, foreign]
  },
  {
    name: "domain repositories",
    files: /^src\/domain\/.*(Repo|\/migrations)\.ts$/,
    rooms: ["domain", "kernel repositories"],
    refused: [outward, foreign]
  },
  {
    name: "domain",
    files: /^src\/domain\//,
    rooms: ["domain repositories", "kernel repositories"],
    refused: [sql, outward, foreign]
  },
  { name: "entities", files: /^src\/entities\//, rooms: core, refused: [sql, drivers] },
  { name: "workflows", files: /^src\/workflows\//, rooms: [...core, "entities"], refused: [sql, drivers] },
  { name: "http", files: /^src\/http\//, rooms: ["domain", "entities", "workflows"], refused: [sql, drivers] },
  // What other programs import: the shapes of routes and calls, and nothing that runs in the service (test/architecture).
  { name: "clients", files: /^src\/client\//, rooms: ["domain", "http"], refused: [sql, drivers] },
  // What tests of plugins start the service with; nothing of the service itself imports it.
  { name: "test kit", files: /^src\/testing\//, rooms: ["*"], refused: [platformIndex] },
  // The door for plugins: everything of the service that they may see.
  {
    name: "plugin interface",
    files: /^src\/plugin\//,
    rooms: [...core, "entities", "workflows", "http"],
    refused: [drivers]
  },
  // Plugins see of the project what its package exports (`stoa/plugin`), as those of other people do.
  {
    name: "plugin repositories",
    files: /^plugins\/(?!.*\/test\/).*(Repo|\/migrations)\.ts$/,
    rooms: ["plugins"],
    refused: [drivers]
  },
  {
    name: "plugins",
    files: /^plugins\/(?!.*\/test\/)/,
    rooms: ["plugin repositories"],
    refused: [sql, drivers]
  },
  { name: "tests of plugins", files: /^plugins\/.*\/test\//, rooms: ["*"], refused: [] }
]

export const roomOf = (path: string): Room | undefined => rooms.find((room) => room.files.test(path))

const pluginOf = (path: string): string | undefined => /^plugins\/([^/]+)\//.exec(path)?.[1]

/** The module of the domain, or the plugin, that a file belongs to. */
const moduleOf = (path: string): string | undefined => /^((?:src\/domain|plugins)\/[^/]+)\//.exec(path)?.[1]

/** Files that keep to the tables of their own module; other rooms may use the repositories of all. */
const inModule = (path: string): boolean => isRepo(path) || path.startsWith("src/domain/")

const isRepo = (path: string): boolean => path.endsWith("Repo.ts")

/** Why `from` may not import the package `name`, or undefined when it may. */
export const refusedPackage = (from: string, name: string): string | undefined => {
  const room = roomOf(from)
  if (room === undefined || !room.refused.some((pattern) => pattern.test(name))) return undefined
  return sql.test(name)
    ? `only *Repo.ts and migrations.ts may import ${name}: move the statement into the module's Repo`
    : `${room.name} may not import ${name}`
}

/**
 * Why `from` may not import the file `to`, or undefined when it may. `requires` gives the plugins that a plugin's
 * manifest names.
 */
export const refusedFile = (
  from: string,
  to: string,
  requires: (plugin: string) => ReadonlyArray<string>
): string | undefined => {
  const [room, target] = [roomOf(from), roomOf(to)]
  if (room === undefined || room.rooms.includes("*")) {
    return from.startsWith("src/") && /^(test|bench|scripts|examples|plugins)\//.test(to)
      ? `src may not import ${to}`
      : undefined
  }
  if (target === undefined) return `${room.name} may not import ${to}: it lies outside the rooms`
  if (inModule(from) && isRepo(to) && moduleOf(from) !== moduleOf(to) && target.name !== "kernel repositories") {
    return isRepo(from)
      ? `a Repo may not import another module's Repo (${to}): compose both in a service`
      : `a service may not import another module's Repo (${to}): ask that module's service`
  }
  const [own, other] = [pluginOf(from), pluginOf(to)]
  if (own !== undefined && other !== undefined) return own === other ? undefined : neighbour(own, other, to, requires)
  if (room.name === target.name || room.rooms.includes(target.name)) return undefined
  return `${room.name} may not import ${to}, which is in ${target.name}`
}

const neighbour = (
  own: string,
  other: string,
  to: string,
  requires: (plugin: string) => ReadonlyArray<string>
): string | undefined => {
  if (to !== `plugins/${other}/index.ts`) {
    return `a plugin may import another one only through its manifest plugins/${other}/index.ts, not ${to}`
  }
  return requires(own).includes(other) ? undefined : `plugin ${own} must list "${other}" in requires to import it`
}
