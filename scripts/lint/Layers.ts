import { domainModule } from "./ModuleLevels.ts"

/**
 * The layers of the source and what each may import: `http → workflows → entities → domain → SQL`, one direction;
 * `layers` and `main.ts` wire them. Every path is relative to the project, with forward slashes.
 */
export interface SourceLayer {
  readonly name: string
  /** Which files belong to the layer; the first layer that matches wins. */
  readonly files: RegExp
  /** Names of the layers its files may import, besides their own. */
  readonly imports: ReadonlyArray<string>
  /** Packages its files may not import. */
  readonly refused: ReadonlyArray<RegExp>
}

const sql = /^effect\/sql(\/|$)/
const drivers = /^(@effect\/.*|pg|pg-.*|undici)$/
/** What would let a rule or a service reach the world: it belongs in entities, workflows, http or layers. */
const outward =
  /^effect\/(cluster|workflow|http|http-api|rpc|net|socket|process|persistence|workers|cli|devtools|eventlog)(\/|$)/
/** Its index loads a Redis client at each start: import its modules one by one. */
const platformIndex = /^@effect\/platform-node$/
/** Everything from npm or Node except Effect and packages that only compute: hashes and identifiers. */
const external = /^(?!effect(\/|$)|node:crypto$|uuid$|iso-3166$)/

const core = ["domain", "domain repositories", "shared repositories"]

export const sourceLayers: ReadonlyArray<SourceLayer> = [
  { name: "tests", files: /^(test|bench|scripts)\//, imports: ["*"], refused: [] },
  // Examples import only what the package exports, as a reader who copies them would.
  { name: "examples", files: /^examples\//, imports: [], refused: [drivers] },
  { name: "layers", files: /^src\/(layers\/|main\.ts$)/, imports: ["*"], refused: [platformIndex] },
  {
    name: "shared repositories",
    files: /^src\/domain\/platform\/(records\/|.+\/(\w*(Repo|Statements)|[Mm]igrations)\.ts$)/,
    imports: ["domain"],
    refused: [outward, external]
  },
  {
    name: "domain repositories",
    files: /^src\/domain\/.*(Repo|Statements|\/migrations)\.ts$/,
    imports: ["domain", "shared repositories"],
    refused: [outward, external]
  },
  {
    name: "domain",
    files: /^src\/domain\//,
    imports: ["domain repositories", "shared repositories"],
    refused: [sql, outward, external]
  },
  { name: "entities", files: /^src\/entities\//, imports: core, refused: [sql, drivers] },
  { name: "workflows", files: /^src\/workflows\//, imports: [...core, "entities"], refused: [sql, drivers] },
  { name: "http", files: /^src\/http\//, imports: ["domain", "entities", "workflows"], refused: [sql, drivers] },
  // For other programs: shapes of routes and calls, and nothing that runs in the service (test/architecture).
  { name: "clients", files: /^src\/client\//, imports: ["domain", "http"], refused: [sql, drivers] },
  // Starts the service in tests of plugins; nothing of the service imports it.
  { name: "test kit", files: /^src\/plugins\/kit\/testing\//, imports: ["*"], refused: [platformIndex] },
  { name: "plugin installation", files: /^src\/plugins\/kit\/install\//, imports: ["*"], refused: [platformIndex] },
  {
    name: "kit repositories",
    files: /^src\/plugins\/kit\/.*(Repo|Statements)\.ts$/,
    imports: [...core, "plugin kit"],
    refused: [outward, external]
  },
  // The public API for plugins: everything of the service that they may use.
  {
    name: "plugin kit",
    files: /^src\/plugins\/kit\//,
    imports: [...core, "kit repositories", "entities", "workflows", "http"],
    refused: [sql, drivers]
  },
  // Plugins import what the package exports (`stoa/plugin`), as plugins of a deployment do.
  {
    name: "plugin repositories",
    files: /^(src\/)?plugins\/(?!.*\/test\/).*(Repo|Statements|\/migrations)\.ts$/,
    imports: ["plugins"],
    refused: [drivers]
  },
  {
    name: "plugins",
    files: /^(src\/)?plugins\/(?!.*\/test\/)/,
    imports: ["plugin repositories"],
    refused: [sql, drivers]
  },
  { name: "tests of plugins", files: /^(src\/)?plugins\/.*\/test\//, imports: ["*"], refused: [] }
]

export const layerOf = (path: string): SourceLayer | undefined => sourceLayers.find((layer) => layer.files.test(path))

/** The folder of the plugin that a file belongs to: `src/plugins/gifts`, or `plugins/gifts` in a deployment. */
const pluginOf = (path: string): string | undefined => /^((?:src\/)?plugins\/(?!kit\/)[^/]+)\//.exec(path)?.[1]

/** The module of the domain, or the plugin, that a file belongs to. */
const moduleOf = (path: string): string | undefined =>
  domainModule(path) ?? /^((?:src\/)?plugins\/[^/]+)\//.exec(path)?.[1]

/** Modules that change rows of many others in one transaction, by the tables that their Repos declare. */
const acrossModules = ["import-export", "privacy"]

/** Files that use only the tables of their own module; other layers may use every repository. */
const inModule = (path: string): boolean => isRepo(path) || path.startsWith("src/domain/")

const isRepo = (path: string): boolean => path.endsWith("Repo.ts")

/** Why `from` may not import the package `name`, or undefined when it may. */
export const refusedPackage = (from: string, name: string): string | undefined => {
  const layer = layerOf(from)
  if (layer === undefined || !layer.refused.some((pattern) => pattern.test(name))) return undefined
  return sql.test(name)
    ? `only *Repo.ts and migrations.ts may import ${name}: move the statement into the module's Repo`
    : `${layer.name} may not import ${name}`
}

/**
 * Why `from` may not import the file `to`, or undefined when it may. `requires` gives the plugins that the manifest in a
 * plugin's folder names.
 */
export const refusedFile = (
  from: string,
  to: string,
  requires: (folder: string) => ReadonlyArray<string>
): string | undefined => {
  const [layer, target] = [layerOf(from), layerOf(to)]
  const [own, other] = [pluginOf(from), pluginOf(to)]
  if (layer === undefined || layer.imports.includes("*")) {
    return from.startsWith("src/") && own === undefined &&
        (other !== undefined || /^(test|bench|scripts|examples)\//.test(to))
      ? `the core may not import ${to}`
      : undefined
  }
  if (target === undefined) return `${layer.name} may not import ${to}: it belongs to no layer`
  const isOfOther = moduleOf(from) !== moduleOf(to) && !acrossModules.includes(moduleOf(from) ?? "")
  if (inModule(from) && isRepo(to) && isOfOther && target.name !== "shared repositories") {
    return isRepo(from)
      ? `a Repo may not import another module's Repo (${to}): compose both in a service`
      : `a service may not import another module's Repo (${to}): ask that module's service`
  }
  if (own !== undefined && other !== undefined) return own === other ? undefined : otherPlugin(own, other, to, requires)
  if (layer.name === target.name || layer.imports.includes(target.name)) return undefined
  return `${layer.name} may not import ${to}, which is in ${target.name}`
}

const otherPlugin = (
  own: string,
  other: string,
  to: string,
  requires: (folder: string) => ReadonlyArray<string>
): string | undefined => {
  if (to !== `${other}/index.ts`) {
    return `a plugin may import another one only through its manifest ${other}/index.ts, not ${to}`
  }
  const id = other.slice(other.lastIndexOf("/") + 1)
  return requires(own).includes(id) ? undefined : `plugin ${own} must list "${id}" in requires to import it`
}
