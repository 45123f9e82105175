import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option, Redacted } from "effect"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type AppSettings, readSettings } from "../../src/layers/config/AppConfig.ts"

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

/** The service's variables, defaults of the file in place of what the machine may set. */
const environmentOf = (name: string): Record<string, string> =>
  Object.fromEntries(
    [...withAnchors(services.get(name) ?? "").matchAll(/^ +([A-Z][A-Z_]+): (.+)$/gm)].map((
      [, key = "", value = ""]
    ) => [
      key,
      value.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1")
    ])
  )

const settingsOf = (name: string): Effect.Effect<AppSettings, unknown> =>
  readSettings({}).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environmentOf(name)))
  )

/** Names of the variables the service reads. */
const known = new Set(
  ["AppConfig", "AuthConfig", "WebhookConfig"].flatMap((name) =>
    [...file(`src/layers/config/${name}.ts`).matchAll(/"([A-Z][A-Z_]+)"/g)].map(([, variable]) => variable)
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
        assert.include(Redacted.value(Option.getOrThrow(settings.databaseUrl)), "stoa:stoa@postgres:5432/stoa")
        // A runner that gave another name than its own would receive its neighbour's messages.
        if (settings.role === "runner") {
          assert.deepStrictEqual([settings.runnerHost, settings.runnerPort], [name, 14_000])
        }
      })))

  it("says itself that it is not in production, which the image is by default", () => {
    assert.match(file("Dockerfile"), /^ENV NODE_ENV=production$/m)
    for (const name of ours) assert.strictEqual(environmentOf(name)["NODE_ENV"], "development")
  })

  it("puts the proxy before the processes that answer HTTP", () => {
    const upstreams = /reverse_proxy ([^{]+)\{/.exec(file("deploy/Caddyfile"))?.[1]?.trim().split(" ")
    assert.deepStrictEqual(upstreams, ours.filter((name) => name.startsWith("api")).map((name) => `${name}:4000`))
  })

  it.effect("has the processes for HTTP believe the proxy, and nobody else, about a client's address", () => {
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
