import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

interface Installed {
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly optional?: boolean
  readonly deprecated?: string
  readonly hasInstallScript?: boolean
  readonly engines?: { readonly node?: string }
}

const read = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"))

const manifest = read("package.json") as {
  readonly engines: { readonly node: string }
  readonly allowScripts: Readonly<Record<string, boolean>>
}

const installed = Object.entries(
  (read("package-lock.json") as { readonly packages: Record<string, Installed> }).packages
)
  .map(([path, about]) => ({ name: path.replace(/^.*node_modules\//, ""), path, ...about }))
  .filter(({ path }) => path.includes("node_modules/"))

/** What `npm ci --omit=dev` installs on every machine. */
const run = installed.filter(({ dev, devOptional, optional }) => !dev && !devOptional && !optional)

/** The first version of a range such as `>=22.19.0`, as one number; 0 where it names none. */
const leastOf = (range: string): number => {
  const [, major = "0", minor = "0"] = />=\s*(\d+)(?:\.(\d+))?/.exec(range) ?? []
  return Number(major) * 1_000 + Number(minor)
}

describe("the packages", () => {
  it("want the version of Node.js that package.json says, and no newer one", () => {
    const wanted = run.map(({ engines, name }) => ({ name, least: leastOf(engines?.node ?? "") }))
    const most = Math.max(...wanted.map(({ least }) => least))
    assert.strictEqual(leastOf(manifest.engines.node), most)
  })

  it("that have install scripts are known, and none of them is deprecated", () => {
    const scripts = installed.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name)
    assert.sameMembers(Object.keys(manifest.allowScripts), scripts)
    assert.deepStrictEqual(installed.filter(({ deprecated }) => deprecated !== undefined).map(({ name }) => name), [])
  })

  it("that only measurements, checks and npm's scripts need are not installed for a run", () => {
    const names = installed.map(({ name }) => name)
    for (const elsewhere of ["@effect/tsgo", "graphile-worker", "pg-boss"]) assert.notInclude(names, elsewhere)
    const kept = installed.filter(({ dev }) => !dev).map(({ name }) => name)
    assert.deepStrictEqual(kept.filter((name) => /^node-|^typescript|^@rolldown\/rolldown$/.test(name)), [])
  })
})

it("the image is built from exact versions, without test tools, and looks after itself", () => {
  const image = readFileSync("Dockerfile", "utf8")
  const bases = [...image.matchAll(/^FROM (\S+)/gm)].map(([, base = ""]) => base)
  assert.isAbove(bases.length, 0)
  for (const base of bases) assert.match(base, /:\d+\.\d+\.\d+|@sha256:/)
  assert.match(image, /^RUN npm pkg delete devDependencies optionalDependencies && npm install --ignore-scripts/m)
  assert.match(image, /chown node:node [^\n]*node_modules\/\.cache\/stoa/)
  assert.match(image, /^HEALTHCHECK .*/m)
})

it("no source imports by name what an older Node.js does not have, which would refuse the whole file", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))
  const newer = /import \{[^}]*\bargon2\b[^}]*\} from "node:crypto"/
  assert.deepStrictEqual(sources.filter((name) => newer.test(readFileSync(join("src", name), "utf8"))), [])
})
