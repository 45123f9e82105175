import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import {
  Email,
  emailKey,
  GivenEmail,
  Mailbox,
  normalizedEmail,
  normalizedMailbox
} from "../../src/domain/platform/text/Email.ts"
import { appointments } from "../../src/plugins/appointments/index.ts"
import { channelConnector } from "../../src/plugins/channel-connector/index.ts"
import { giftCards } from "../../src/plugins/gift-cards/index.ts"
import { marketplace } from "../../src/plugins/marketplace/index.ts"
import { notifications } from "../../src/plugins/notifications/index.ts"
import { pos } from "../../src/plugins/pos/index.ts"
import { procurement } from "../../src/plugins/procurement/index.ts"
import { uom } from "../../src/plugins/uom/index.ts"
import { warehouse } from "../../src/plugins/warehouse/index.ts"
import { api, live, testAppLayer } from "../support/TestApp.ts"

const src = fileURLToPath(new URL("../../src", import.meta.url))
const rule = "domain/platform/text/Email.ts"

const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.includes("/test/"))

const matching = (form: RegExp, ...except: ReadonlyArray<string>) =>
  files.filter((file) => form.test(readFileSync(join(src, file), "utf8")) && !except.includes(file)).toSorted()

const decoded = (text: string) => Result.getOrUndefined(Schema.decodeUnknownResult(Email)(text))

/** The property is an e-mail address by its name. */
const isEmailName = (name: string): boolean => /^(new)?email$|email$/i.test(name)

interface Shape {
  readonly $ref?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly [key: string]: unknown
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly requestBody?: unknown }>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Shape>> }
}

/** Paths of the fields of request bodies that are addresses by name and not by the rule. */
const otherRules = ({ components, paths }: Document): ReadonlyArray<string> => {
  const found: Array<string> = []
  const seen = new Set<unknown>()
  const visit = (value: unknown, at: string): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) return
    seen.add(value)
    const shape = value as Shape
    if (shape.$ref !== undefined) return visit(components.schemas[shape.$ref.split("/").at(-1) ?? ""], shape.$ref)
    for (const [name, property] of Object.entries(shape.properties ?? {})) {
      const isText = JSON.stringify(property).includes("\"type\":\"string\"")
      if (isEmailName(name) && isText && !JSON.stringify(property).includes("\"format\":\"idn-email\"")) {
        found.push(`${at}.${name}`)
      }
    }
    for (const [name, inner] of Object.entries(shape)) visit(inner, `${at}.${name}`)
  }
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) visit(requestBody, `${method} ${path}`)
  }
  return found
}

describe("e-mail addresses", () => {
  it("are normalized: trimmed, the domain in ASCII and lower case, letters beyond ASCII in lower case", () => {
    const normalized = {
      " ann@Example.COM\t": "ann@example.com",
      "Ann.O'Hara+shop@example.com": "Ann.O'Hara+shop@example.com",
      "JOSÉ@exämple.com": "JOSé@xn--exmple-cua.com",
      "jose\u0301@example.com": "josé@example.com",
      "ann@xn--exmple-cua.com": "ann@xn--exmple-cua.com",
      "почта@пример.рф": "почта@xn--e1afmkfd.xn--p1ai",
      "a@b.co": "a@b.co"
    }
    for (const [sent, stored] of Object.entries(normalized)) {
      assert.strictEqual(decoded(sent), stored)
      assert.strictEqual(decoded(stored), stored, "a stored address is normalized")
    }
  })

  it("are one address each, without control characters, with a dot in the domain", () => {
    const long = "a".repeat(64)
    const bad = [
      "",
      "a",
      "@b.c",
      "a@",
      "a@b@c.d",
      "a b@c.d",
      "a@b.c,c@d.e",
      "a@b.c; c@d.e",
      "Ann <a@b.c>",
      "a@b.c\r\nBcc: x@y.z",
      "a\0@b.c",
      "a\u200b@b.c",
      "a..b@c.d",
      ".a@b.c",
      "a.@b.c",
      "\"a b\"@c.d",
      "a@b..c",
      "a@-b.c",
      "a@b-.c",
      "a@b.c/d",
      "a@b.c:80",
      "a@[1.2.3.4]",
      "a@1.2.3.4",
      "a@b",
      "root@localhost",
      `${long}a@b.c`,
      `${"é".repeat(33)}@b.c`,
      `a@${`${long}.`.repeat(4)}com`,
      `a@${long}.com`
    ]
    for (const text of bad) assert.isUndefined(normalizedEmail(text), JSON.stringify(text))
    assert.strictEqual(normalizedEmail(`${long}@b.c`), `${long}@b.c`)
  })

  it("of older accounts may have a domain without a dot, and an old record keeps what is no address", () => {
    assert.strictEqual(normalizedMailbox("root@localhost"), "root@localhost")
    assert.isTrue(Schema.is(Mailbox)("root@localhost"))
    const kept = Schema.decodeUnknownSync(GivenEmail)
    assert.deepStrictEqual([" none ", " Ann@EXAMPLE.com"].map((text) => kept(text)), ["none", "Ann@example.com"])
  })

  it("are equal by one key in any spelling", () => {
    const keys = ["JOSÉ@Exämple.com ", "josé@xn--exmple-cua.com", "jose\u0301@EXÄMPLE.com"].map(emailKey)
    assert.deepStrictEqual(new Set(keys), new Set(["josé@xn--exmple-cua.com"]))
  })

  it("are read by one rule: no other file has a pattern for them, or compares them by hand", () => {
    // What better-auth takes, and what is cut out of the errors of mail servers.
    assert.deepStrictEqual(
      matching(/\/[^/\n]*[\]+*)]@[([\\(][^/\n]*\//, rule, "http/auth/EmailAlias.ts", "layers/mail/MailTransport.ts"),
      []
    )
    assert.deepStrictEqual(matching(/lower\([^)]*e_?mail/i, rule, ...migrationsOf("customers", "orders")), [])
    assert.deepStrictEqual(matching(/(e?mail|recipient|address)\??\.(trim\(\)\.)?toLowerCase/i), [
      "http/auth/EmailAlias.ts"
    ])
    assert.deepStrictEqual(matching(/\b\w*[eE]mail: (text|Text|ShortText|FreeText)\b/), [])
  })
})

const migrationsOf = (...modules: ReadonlyArray<string>) => modules.map((name) => `domain/${name}/migrations.ts`)

const plugins = [
  appointments(),
  channelConnector(),
  giftCards(),
  marketplace(),
  notifications(),
  pos({}),
  uom,
  warehouse,
  procurement()
]

layer(testAppLayer({ plugins, auth: { apiKeys: { enabled: true } } }), live)("e-mail addresses in requests", (it) => {
  it.effect("have one schema in every body of the service and of the plugins", () =>
    Effect.gen(function*() {
      const document = (yield* api("GET", "/api/doc")).body as Document
      assert.deepStrictEqual(otherRules(document), [])
      const planted = { type: "object", properties: { contactEmail: { type: "string" } } }
      const paths = { "/api/x": { post: { requestBody: { content: { "application/json": { schema: planted } } } } } }
      const [found] = otherRules({ ...document, paths })
      assert.match(found ?? "", /^post \/api\/x.*contactEmail$/)
    }))
})
