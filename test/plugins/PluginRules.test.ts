import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import {
  definePlugin,
  group,
  mailTemplate,
  pluginEntity,
  type PluginManifest,
  pluginWorkflow,
  table,
  text
} from "stoa/plugin"
import { flawsOf } from "../../src/plugins/kit/install/PluginRules.ts"

const core = { modules: ["catalog"], permissions: ["catalog:read"], events: ["orders.create"], roles: ["staff"] }
const named = (id: string, rest: Partial<PluginManifest<never, Till>> = {}) =>
  definePlugin({ id, version: "1.0.0", ...rest })

const mailNamed = (name: `${string}/${string}`, texts = {}) =>
  mailTemplate({
    name,
    purpose: "transactional",
    data: Schema.Struct({}),
    sample: {},
    texts: { ...texts, en: () => ({ subject: "", paragraphs: [] }) }
  })

/** As of a plugin without types. */
const withoutPurpose = (template: ReturnType<typeof mailNamed>) => {
  const left = { ...template }
  Reflect.deleteProperty(left, "purpose")
  return left
}

const workflowNamed = (name: string) =>
  pluginWorkflow(name, { input: {}, key: () => "one" }).behaviour(() => Effect.void)

class Till extends Context.Service<Till, { readonly open: boolean }>()("test/plugins/PluginRules/Till") {
  static readonly layer = Layer.succeed(Till, { open: true })
}
const exporting = definePlugin({ id: "pos", version: "1.0.0", layer: Till.layer, exports: [Till] })

const cases: ReadonlyArray<readonly [what: string, plugins: ReturnType<typeof named>[], message: RegExp]> = [
  ["an id in capitals", [named("Gifts")], /Plugin "Gifts": an id has lower case/],
  ["a version that is not semantic", [named("gifts", { version: "1" })], /"gifts": version "1" is not semantic/],
  ["two of one id", [named("gifts"), named("gifts")], /id "gifts" of plugin "gifts" belongs to plugin "gifts"/],
  ["the id of a module", [named("catalog")], /id "catalog" of plugin "catalog" belongs to the core/],
  [
    "a required plugin that is not there",
    [named("gifts", { requires: ["pos"] })],
    /"gifts" requires plugin "pos", which is not/
  ],
  [
    "a required plugin that comes later",
    [named("gifts", { requires: ["pos"] }), named("pos")],
    /"gifts" requires plugin "pos", which has to come before it/
  ],
  [
    "a table of two",
    [
      named("gifts", { schema: () => [table("cards", { code: text })] }),
      named("pos", { schema: () => [table("cards", { code: text })] })
    ],
    /table "cards" of plugin "pos" belongs to plugin "gifts"/
  ],
  [
    "a permission of the core",
    [named("gifts", { permissions: [{ scope: "catalog:read", description: "x" }] })],
    /permission "catalog:read" of plugin "gifts" belongs to the core/
  ],
  [
    "a permission without a module",
    [named("gifts", { permissions: [{ scope: "all", description: "x" }] })],
    /permission "all" is not of the form "gifts:action"/
  ],
  [
    "a role that the deployment does not have",
    [named("gifts", { permissions: [{ scope: "gifts:use", description: "x", roles: ["staff", "clerk"] }] })],
    /permission "gifts:use" names the role "clerk", which this deployment does not have/
  ],
  [
    "a handler of an event that does not exist",
    [named("gifts", {
      events: ["gift.made"],
      onEvents: { "gift.*": () => Effect.void, "orders.made": () => Effect.void }
    })],
    /"gifts": onEvents names "orders.made", which is no event/
  ],
  [
    "a key scope of two",
    [
      named("gifts", { keyScopes: { kiosk: { prefix: "gift_", permissions: {} } } }),
      named("pos", { keyScopes: { kiosk: { prefix: "pos_", permissions: {} } } })
    ],
    /key scope "kiosk" of plugin "pos" belongs to plugin "gifts"/
  ],
  [
    "a service that no required plugin exports",
    [exporting, named("gifts", { uses: [Till] })],
    /"gifts" uses the service "test\/plugins\/PluginRules\/Till", which no plugin that it requires exports/
  ],
  [
    "a service that two export",
    [exporting, definePlugin({ id: "till", version: "1.0.0", layer: Till.layer, exports: Till })],
    /exported service "test\/plugins\/PluginRules\/Till" of plugin "till" belongs to plugin "pos"/
  ],
  [
    "a mail template with the name of another plugin",
    [named("gifts", { mailTemplates: [mailNamed("pos/card")] })],
    /"gifts": the name of the mail template "pos\/card" is not of the form "gifts\/name"/
  ],
  [
    "a mail template that does not say its purpose",
    [named("gifts", { mailTemplates: [withoutPurpose(mailNamed("gifts/card"))] })],
    /"gifts": the mail template "gifts\/card" must say its `purpose`/
  ],
  [
    "a category of mails in capitals",
    [named("gifts", { mailTemplates: [{ ...mailNamed("gifts/card"), purpose: { category: "News!" } }] })],
    /mail template "gifts\/card" must say its `purpose`: .* in small letters/
  ],
  [
    "texts of a mail in no language",
    [named("gifts", {
      mailTemplates: [mailNamed("gifts/card", { german_: () => ({ subject: "", paragraphs: [] }) })]
    })],
    /mail template "gifts\/card" has texts for "german_", which is no language tag/
  ],
  [
    "an entity with the name of another plugin",
    [named("gifts", { entities: [pluginEntity("pos/Till", []).behaviour(() => Effect.succeed({}))] })],
    /"gifts": the name of the entity "pos\/Till" is not of the form "gifts\/name"/
  ],
  [
    "a workflow with the name of another plugin",
    [named("gifts", { workflows: [workflowNamed("pos/Count")] })],
    /"gifts": the name of the workflow "pos\/Count" is not of the form "gifts\/name"/
  ],
  ["two workflows of one name", [
    named("gifts", { workflows: [workflowNamed("gifts/Send"), workflowNamed("gifts/Send")] })
  ], /workflow "gifts\/Send" of plugin "gifts" belongs to plugin "gifts" already/],
  ["an event of the core", [named("gifts", { events: ["orders.create"] })], /event "orders.create" of plugin "gifts"/]
]

describe("plugins that cannot stand beside each other", () => {
  for (const [what, plugins, message] of cases) {
    it(`are refused for ${what}`, () => {
      assert.match(flawsOf(plugins, core)[0] ?? "", message)
    })
  }

  it("are none when nothing is wrong", () => {
    const gifts = named("gifts", { requires: ["pos"], permissions: [{ scope: "gifts:use", description: "x" }] })
    assert.deepStrictEqual(flawsOf([named("pos"), gifts], core), [])
  })

  it("are refused where they are defined when a name cannot be one of a table or column", () => {
    assert.throws(() => table("Cards", { code: text }), /"Cards"/)
    assert.throws(() => table("cards", { gift_code: text }), /"gift_code" is not in camelCase/)
    assert.throws(() => table("cards", { createdAt: text }), /that the library adds/)
  })

  it("get a prefix with one /api, and braces for parameters", () => {
    const shape = group("Gifts", "/api/gifts").get("/cards/{id}/", { auth: true, success: Schema.Unknown })
    assert.strictEqual(shape.described.path, "/api/gifts/cards/:id")
  })
})
