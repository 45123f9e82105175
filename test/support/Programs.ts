import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { access, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { rolldown } from "rolldown"

const root = fileURLToPath(new URL("../..", import.meta.url))
const cache = join(root, "node_modules/.cache/stoa-programs")

const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).sort()

/** The service's own program and those of the tests. Reading their 1,200 modules is two thirds of what a start costs. */
const programs = [
  "src/main.ts",
  ...readdirSync(join(root, "test/support")).filter((name) => /^serve(?!Receiver)[A-Z]\w+\.ts$/.test(name)).map((
    name
  ) => `test/support/${name}`),
  ...filesBelow("src/plugins")
    .filter((name) => /\/test\/(.+\/)?serve[A-Z]\w+\.ts$/.test(name)).map((name) => `src/plugins/${name}`)
]

/** A hash of the programs' sources: they are built again when any of them changes. */
const stateOf = (): string => {
  const hash = createHash("sha256").update(root)
  const sources = ["src", "test/support", "test/plugins"].flatMap((folder) =>
    filesBelow(folder).map((name) => join(folder, name))
  )
  for (const name of ["package-lock.json", "commerce.config.ts", ...sources.filter((name) => name.endsWith(".ts"))]) {
    hash.update(name).update("\0").update(readFileSync(join(root, name))).update("\0")
  }
  return hash.digest("hex").slice(0, 16)
}

const exists = (path: string): Promise<boolean> => access(path).then(() => true, () => false)

/** What finds files beside itself finds them where its source lies. */
const inItsPlace = {
  name: "in its place",
  transform: {
    filter: { code: /import\.meta\.url/ },
    handler: (code: string, id: string) => ({
      code: code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
    })
  }
}

const makeIn = async (directory: string): Promise<void> => {
  const bundle = await rolldown({
    cwd: root,
    input: programs.map((program) => join(root, program)),
    platform: "node",
    plugins: [inItsPlace],
    logLevel: "silent"
  })
  await bundle.write({
    dir: directory,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs"
  })
  await bundle.close()
}

/** Ends orderly and so writes down what the compiler came to; processes of tests are killed, and write nothing. */
const compileIn = (directory: string) =>
  new Promise<void>((resolve) => {
    const env = { ...process.env, NODE_COMPILE_CACHE: join(directory, "compiled") }
    spawn(process.execPath, [join(directory, "main.mjs"), "--version"], { stdio: "ignore", env })
      .once("close", () => resolve())
  })

/** What other states of the sources left behind; a run that is under way may still use what is an hour old. */
const removeOld = async (kept: string) => {
  for (const name of await readdir(cache)) {
    const path = join(cache, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }))
    if (name !== kept && mtimeMs < Date.now() - 3_600_000) await rm(path, { recursive: true, force: true })
  }
}

/** Makes each program one of a few files, unless these sources were made before, and gives the directory. */
export const makePrograms = async (): Promise<string> => {
  const state = stateOf()
  const directory = join(cache, state)
  if (await exists(directory)) return directory
  await mkdir(cache, { recursive: true })
  await removeOld(state)
  const made = await mkdtemp(join(cache, "made-"))
  await makeIn(made)
  // Another run may have been quicker.
  await rename(made, directory).catch(() => rm(made, { recursive: true, force: true }))
  await compileIn(directory)
  return directory
}
