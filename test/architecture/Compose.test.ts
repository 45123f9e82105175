import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option, Redacted } from "effect"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type AppSettings, readSettings } from "../../src/layers/config/AppConfig.ts"
import { isDevelopmentOnNetwork } from "../../src/layers/config/NetworkConfig.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const file = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8")

const compose = file("docker-compose.yml")

/** A block of the file: a name at this indentation, and the lines below it. */
const blocks = (text: string, indent: number): ReadonlyMap<string, string> => {
  const head = new RegExp(`^ {${indent}}([\\w-]+):.*$`, "gm")
  const heads = [...text.matchAll(head)]
  return new Map(heads.map((match, index) => [match[1] ?? "", text.slice(match.index, heads[index + 1]?.index)]))
}

const top = blocks(compose, 0)
const services = blocks(top.get("services") ?? "", 2)
const ours = [...services.keys()].filter((name) => /^(api|runner)\d$/.test(name))

/** What a block stands on: the anchors it merges, and those that they merge. */
const withAnchors = (block: string): string => {
  const merged = [...block.matchAll(/<<: \*([\w-]+)/g)].map(([, anchor]) =>
    [...top.values()].find((other) => new RegExp(`^\\S+ &${anchor}$`, "m").test(other)) ?? ""
  )
  return [...merged.map(withAnchors), block].join("\n")
}

/** What `deploy/make-secrets.sh` writes, with new secrets on each call. */
const madeSecrets = (): ReadonlyMap<string, string> => {
  const folder = mkdtempSync(join(tmpdir(), "stoa-secrets-"))
  const made = spawnSync("sh", [`${root}/deploy/make-secrets.sh`, join(folder, ".env")], { encoding: "utf8" })
  assert.strictEqual(made.status, 0, made.stderr)
  assert.strictEqual(statSync(join(folder, ".env")).mode & 0o777, 0o600)
  const text = readFileSync(join(folder, ".env"), "utf8")
  rmSync(folder, { recursive: true })
  return new Map([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]))
}

/** The settings that an operator fills in. */
const filledIn = new Map([
  ["STOA_SMTP_URL", "smtp://shop:secret@mail.example:587"],
  ["STOA_MAIL_FROM", "shop@shop.example"],
  ["STOA_PUBLIC_URL", "https://shop.example"]
])

const secrets = new Map([...madeSecrets(), ...filledIn])

/** The variables in a block: from the secrets, else as the file says; one that has to be there and is not stays as it is. */
const variablesIn = (block: string): Record<string, string> =>
  Object.fromEntries(
    [...block.matchAll(/^ +([A-Z][A-Z_]+): (.+)$/gm)].map(([, key = "", value = ""]) => [
      key,
      value.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (whole, name: string, kind: string, fallback: string) =>
        secrets.get(name) || (kind === "-" ? fallback : whole)).replaceAll("\"", "")
    ])
  )

/** The service's variables. */
const environmentOf = (name: string): Record<string, string> => variablesIn(withAnchors(services.get(name) ?? ""))

const settingsOf = (name: string): Effect.Effect<AppSettings, unknown> =>
  readSettings({}).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environmentOf(name)))
  )

/** Names of the variables the service reads. */
const known = new Set(
  readdirSync(`${root}/src/layers/config`).flatMap((name) =>
    [...file(`src/layers/config/${name}`).matchAll(/"([A-Z][A-Z_]+)"/g)].map(([, variable]) => variable)
  )
)

describe("docker-compose.yml", () => {
  it("has two processes for HTTP and three for actors", () => {
    assert.deepStrictEqual(ours, ["api1", "api2", "runner1", "runner2", "runner3"])
  })

  it.effect("gives every process settings that the service accepts", () =>
    Effect.forEach(ours, (name) =>
      Effect.gen(function*() {
        for (const variable of Object.keys(environmentOf(name))) assert.isTrue(known.has(variable), variable)
        const settings = yield* settingsOf(name)
        assert.strictEqual(settings.role, name.startsWith("api") ? "api" : "runner")
        const password = secrets.get("POSTGRES_PASSWORD")
        assert.include(Redacted.value(Option.getOrThrow(settings.databaseUrl)), `stoa:${password}@postgres:5432/stoa`)
        // A runner that gave the name of another runner would receive the other one's messages.
        if (settings.role === "runner") {
          assert.deepStrictEqual([settings.runnerHost, settings.runnerPort], [name, 14_000])
        }
      })))

  it("is production, as the image is, with secrets that are made for each deployment", () => {
    assert.match(file("Dockerfile"), /^ENV NODE_ENV=production$/m)
    const others = madeSecrets()
    for (const name of ours) {
      const environment = environmentOf(name)
      assert.strictEqual(environment["NODE_ENV"], "production")
      assert.notProperty(environment, "STOA_DEV_API_KEY")
      for (const variable of ["STOA_AUTH_SECRET", "STOA_SECRETS_KEY", "STOA_METRICS_KEY"]) {
        assert.isAtLeast(environment[variable]?.length ?? 0, 32, variable)
        assert.notStrictEqual(environment[variable], others.get(variable), variable)
      }
    }
  })

  it("has no default for what must be secret: without the secrets it does not start", () => {
    for (const name of ["POSTGRES_PASSWORD", "STOA_AUTH_SECRET", "STOA_SECRETS_KEY", "STOA_METRICS_KEY"]) {
      assert.notMatch(compose, new RegExp(`\\$\\{${name}:?-`), name)
      assert.include(compose, `\${${name}:?`)
    }
  })

  it("puts the proxy before the processes that answer HTTP", () => {
    const upstreams = /reverse_proxy ([^{]+)\{/.exec(file("deploy/Caddyfile"))?.[1]?.trim().split(" ")
    assert.deepStrictEqual(upstreams, ours.filter((name) => name.startsWith("api")).map((name) => `${name}:4000`))
  })

  it.effect("has the processes for HTTP trust only the proxy about a client's address", () => {
    const proxy = /ipv4_address: (\S+)/.exec(services.get("proxy") ?? "")?.[1]
    return Effect.forEach(
      ours.filter((name) => name.startsWith("api")),
      (name) =>
        Effect.map(settingsOf(name), ({ trustedProxy }) => {
          assert.isDefined(proxy)
          assert.strictEqual(Option.getOrUndefined(trustedProxy), proxy)
        })
    )
  })

  // Where the tool is installed it has the last word.
  if (spawnSync("docker", ["compose", "version"]).status === 0) {
    it("is accepted by docker compose", () => {
      const checked = spawnSync("docker", ["compose", "config", "-q"], { cwd: root, encoding: "utf8" })
      assert.strictEqual(checked.stderr, "")
      assert.strictEqual(checked.status, 0)
    })
  }
})

describe("docker-compose.demo.yml", () => {
  const demo = file("docker-compose.demo.yml")
  const variables = variablesIn(blocks(blocks(demo, 0).get("services") ?? "", 2).get("demo") ?? "")

  it.effect("says that it is a demo, and that a network may reach it", () =>
    Effect.gen(function*() {
      const settings = yield* readSettings({}).pipe(
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(variables))
      )
      assert.deepStrictEqual([settings.environment, isDevelopmentOnNetwork(settings)], ["development", true])
      assert.match(demo, /^# A demo, and nothing to sell with/)
    }))

  it("is published on the local machine only", () => {
    assert.deepStrictEqual([...demo.matchAll(/^ +- "(.+:\d+)"$/gm)].map(([, port]) => port), ["127.0.0.1:8081:4000"])
  })
})
