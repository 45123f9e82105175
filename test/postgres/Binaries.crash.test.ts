import { assert, describe, it } from "@effect/vitest"
import { cp, lstat, readdir, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { isRoot } from "../../src/layers/postgres/PostgresAccount.ts"
import { findPackage, platformPackage } from "../../src/layers/postgres/PostgresPackage.ts"
import {
  makeDirectory,
  pretendBinaries,
  query,
  refusal,
  start,
  temporaryDirectory,
  withEnvironment
} from "./Launcher.ts"

const libraryLinks = async (native: string) => {
  const entries = await readdir(join(native, "lib"), { withFileTypes: true })
  return entries.filter((entry) => entry.isSymbolicLink()).map((entry) => entry.name).sort()
}

/** A project whose node_modules was installed without running install scripts. */
const installedWithoutScripts = async (project: string) => {
  const installed = await findPackage([process.cwd()])
  if (installed === undefined) return assert.fail("the platform package is not installed")
  const copy = join(project, "node_modules", ...platformPackage.split("/"))
  await cp(join(installed.native, ".."), copy, { recursive: true, verbatimSymlinks: true })
  const native = join(copy, "native")
  for (const name of await libraryLinks(native)) await rm(join(native, "lib", name))
  return native
}

describe("finding PostgreSQL", () => {
  it("makes the library links that install scripts would have made", async () => {
    const project = await temporaryDirectory()
    const native = await installedWithoutScripts(project)
    assert.deepStrictEqual(await libraryLinks(native), [])
    const server = await start({ dir: join(project, "pg"), resolveFrom: project, throwaway: true })
    assert.strictEqual(server.origin, "npm")
    assert.include((await libraryLinks(native)).join(), "libicui18n.so.60")
  })

  if (isRoot()) {
    it("runs as root from a copy when the server's account cannot enter the project", async () => {
      const project = await makeDirectory(join(await temporaryDirectory(), "closed"), 0o700)
      await installedWithoutScripts(project)
      const cache = join(await temporaryDirectory(), "bin")
      const dir = join(await temporaryDirectory(), "pg")
      withEnvironment({ EMBEDDED_PG_CACHE: cache })
      const first = await start({ dir, resolveFrom: project })
      assert.strictEqual(first.origin, "npm")
      const copies = await readdir(cache)
      assert.strictEqual(copies.length, 1)
      const native = join(cache, copies[0] ?? "", "native")
      assert.deepStrictEqual([(await stat(native)).uid, (await stat(native)).mode & 0o777], [0, 0o755])
      await first.stop()

      const made = (await lstat(native)).ctimeMs
      const second = await start({ dir, resolveFrom: project })
      assert.strictEqual((await lstat(native)).ctimeMs, made, "copied once")
      const owner = await query<{ user: string }>(second.url, "select current_user::text as user")
      assert.deepStrictEqual(owner, [{ user: "stoa" }])
      assert.notStrictEqual((await stat(`/proc/${second.pid}`)).uid, 0)
    })
  }

  it("drops a candidate that does not answer with its version", async () => {
    const binDir = await pretendBinaries({ postgres: "exit 1", initdb: "exit 1" })
    await rm(join(binDir, "initdb"))
    const error = await refusal("NoBinaries", { dir: join(await temporaryDirectory(), "pg"), binDir })
    assert.include(error.message, "no initdb")
  })
})
