import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { api, asAdmin, asStaff, inOrganization, live, testAppLayer, withSharedApp } from "../support/TestApp.ts"
import { entities, make, onDatabase, refused, searching, shopper, suggested } from "./CatalogCalls.ts"

const drafts = "/api/catalog/attribute-drafts"

const put = (id: string, locale: string, body: object, as = asStaff) =>
  api("PUT", `${entities}/${id}/attributes/${locale}`, { as, body })

const decide = (id: string, locale: string, action: "approve" | "reject", as = asAdmin) =>
  api("POST", `${entities}/${id}/attributes/${locale}/${action}`, { as })

/** Title, description and status of one locale, as this actor reads it. */
const wordsOf = (id: string, locale: string, as: typeof asAdmin = asStaff, query = "") =>
  Effect.map(
    api("GET", `${entities}/${id}/attributes/${locale}${query}`, { as }),
    (answer) =>
      answer.status === 200
        ? [answer.at("data.locale"), answer.at("data.title"), answer.at("data.description"), answer.at("data.status")]
        : answer.status
  )

/** Locale and title of all words that a read of the entity carries. */
const titlesOf = (id: string, as: typeof asAdmin, query = "") =>
  Effect.map(
    api("GET", `${entities}/${id}?include=attributes${query}`, { as }),
    (answer) =>
      answer.list("data.attributes").map((one) => {
        const { locale, status, title } = one as Record<string, string>
        return `${locale} ${title} ${status}`
      })
  )

withSharedApp("words that wait for approval", (it) => {
  it.effect("a draft is laid over the approved words for those who keep the catalog; shoppers see what is approved", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ status: "active", attributes: { title: "Lamp", description: "bright" } })
      const saved = yield* put(id, "en", { title: "Lantern", status: "draft" })
      assert.deepStrictEqual([saved.status, saved.at("data")], [200, { updated: true }])
      assert.deepStrictEqual(yield* wordsOf(id, "en"), ["en", "Lantern", "bright", "draft"])
      assert.deepStrictEqual(yield* wordsOf(id, "en", asStaff, "?status=approved"), [
        "en",
        "Lamp",
        "bright",
        "approved"
      ])
      assert.deepStrictEqual(yield* wordsOf(id, "en", shopper), ["en", "Lamp", "bright", "approved"])
      assert.deepStrictEqual(yield* titlesOf(id, asStaff), ["en Lantern draft"])
      assert.deepStrictEqual(yield* titlesOf(id, shopper), ["en Lamp approved"])
      // A change of the approved words shows through where the draft says nothing.
      yield* put(id, "en", { description: "warm" })
      yield* put(id, "en", { seoTitle: "S", status: "draft" })
      assert.deepStrictEqual(yield* wordsOf(id, "en"), ["en", "Lantern", "warm", "draft"])
    }))

  it.effect("a draft of a new locale needs a title and is not there for shoppers", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ status: "active", attributes: { title: "Lamp" } })
      const draft = { description: "hell", status: "draft" }
      const missing = yield* refused("PUT", `${entities}/${id}/attributes/de`, draft, 422)
      assert.strictEqual(missing.at("error.details.issues.0.path"), "title")
      yield* put(id, "de", { ...draft, title: "Lampe" })
      yield* put(id, "de", draft)
      assert.deepStrictEqual(yield* wordsOf(id, "de"), ["de", "Lampe", "hell", "draft"])
      assert.strictEqual(yield* wordsOf(id, "de", shopper), 404)
      assert.deepStrictEqual(yield* titlesOf(id, asStaff), ["de Lampe draft", "en Lamp approved"])
      assert.deepStrictEqual(yield* titlesOf(id, shopper), ["en Lamp approved"])
      const list = yield* api("GET", `${entities}?include=attributes&limit=100`, { as: asStaff })
      const item = list.list("data").find((one) => (one as { id: string }).id === id) as { attributes: Array<object> }
      assert.strictEqual(item.attributes.length, 2)
    }))

  it.effect("a draft is approved as a change of its words: an event, a revision, and found by the next search", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ status: "active", attributes: { title: "Plain" } })
      yield* put(id, "en", { title: "Zirconium", status: "draft" })
      assert.deepStrictEqual(
        [(yield* searching("q=zirconium", shopper)).total, (yield* searching("q=zirconium", asStaff)).total],
        [0, 1]
      )
      assert.deepStrictEqual(yield* suggested("prefix=zirc", shopper), [])
      const answer = yield* decide(id, "en", "approve")
      assert.deepStrictEqual([answer.status, answer.at("data")], [200, { approved: true }])
      assert.deepStrictEqual(yield* wordsOf(id, "en", shopper), ["en", "Zirconium", null, "approved"])
      assert.strictEqual((yield* searching("q=zirconium", shopper)).total, 1)
      const recorded = yield* onDatabase((sql) =>
        sql<{ type: string }>`select type from outbox_events where entity_id = ${id} order by entry_number`
      )
      assert.deepStrictEqual(recorded.map(({ type }) => type), [
        "catalog.create",
        "catalog.proposeAttributes",
        "catalog.update"
      ])
      const revisions = yield* api("GET", `${entities}/${id}/revisions`, { as: asStaff })
      assert.deepStrictEqual(revisions.at("data.0.changedFields"), ["attributes.en.title"])
      yield* refused("POST", `${entities}/${id}/attributes/en/approve`, undefined, 404)
    }))

  it.effect("a draft is taken away by a rejection, and leaves the index", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ status: "active", attributes: { title: "Plain" } })
      yield* put(id, "en", { title: "Vanadium", status: "draft" })
      const answer = yield* decide(id, "en", "reject")
      assert.deepStrictEqual([answer.status, answer.at("data")], [200, { rejected: true }])
      assert.deepStrictEqual(yield* wordsOf(id, "en"), ["en", "Plain", null, "approved"])
      assert.strictEqual((yield* searching("q=vanadium", asStaff)).total, 0)
      yield* refused("POST", `${entities}/${id}/attributes/en/reject`, undefined, 404)
    }))

  it.effect("a list has drafts by age, each organization's separately", () =>
    Effect.gen(function*() {
      const { id, slug } = yield* make({ attributes: { title: "Plain" } })
      yield* put(id, "fr", { title: "Simple", status: "draft" })
      const page = yield* api("GET", `${drafts}?limit=100`, { as: asStaff })
      const { proposedAt, ...draft } = page.list("data").at(-1) as Record<string, unknown>
      assert.deepStrictEqual(draft, {
        entityId: id,
        slug,
        locale: "fr",
        changes: { title: "Simple" },
        proposedBy: "user-staff"
      })
      assert.isString(proposedAt)
      const outsider = inOrganization("org_x", asAdmin)
      assert.deepStrictEqual((yield* api("GET", drafts, { as: outsider })).list("data"), [])
      yield* refused("PUT", `${entities}/${newId()}/attributes/fr`, { title: "x", status: "draft" }, 404)
      yield* refused("PUT", `${entities}/${id}/attributes/fr`, { status: "sold" }, 422)
    }))

  it.effect("a draft is approved once, by the first of two concurrent requests", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ attributes: { title: "Plain" } })
      yield* put(id, "en", { title: "Better", status: "draft" })
      const answers = yield* Effect.forEach([1, 2, 3, 4], () => decide(id, "en", "approve"), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 404, 404, 404])
    }))
})

const strict = layer(
  testAppLayer({ catalog: { approveLocales: true, localeFallbacks: { "de-CH": ["fr-CH"], "pt": ["es"] } } }),
  live
)

strict("a store that has its words approved", (it) => {
  it.effect("makes drafts of what staff writes, and of what it creates and restores; who may approve writes at once", () =>
    Effect.gen(function*() {
      const made = yield* api("POST", entities, {
        as: asStaff,
        body: { type: "product", slug: newId(), status: "active", attributes: { title: "First" } }
      })
      const id = made.text("data.id")
      assert.deepStrictEqual([yield* wordsOf(id, "en"), yield* wordsOf(id, "en", shopper)], [
        ["en", "First", null, "draft"],
        404
      ])
      yield* put(id, "en", { title: "Second" }, asAdmin)
      assert.deepStrictEqual(yield* wordsOf(id, "en", shopper), ["en", "Second", null, "approved"])
      yield* put(id, "en", { title: "Third" })
      assert.deepStrictEqual(yield* wordsOf(id, "en", shopper), ["en", "Second", null, "approved"])
      yield* refused("PUT", `${entities}/${id}/attributes/en`, { title: "Mine", status: "approved" }, 403, asStaff)
      const body = { type: "product", slug: newId(), attributes: { title: "Mine", status: "approved" } }
      yield* refused("POST", entities, body, 403, asStaff)
      yield* decide(id, "en", "approve")
      assert.deepStrictEqual(yield* wordsOf(id, "en", shopper), ["en", "Third", null, "approved"])
      const restored = yield* api("POST", `${entities}/${id}/revisions/2/restore`, { as: asStaff })
      assert.strictEqual(restored.status, 200, JSON.stringify(restored.body))
      assert.deepStrictEqual([yield* wordsOf(id, "en", shopper), yield* wordsOf(id, "en")], [
        ["en", "Third", null, "approved"],
        ["en", "Second", null, "draft"]
      ])
    }))

  it.effect("shows the words of the first locale of a chain that is approved", () =>
    Effect.gen(function*() {
      const { id, slug } = yield* make({ status: "active", type: "chained", attributes: { title: "Cheese" } })
      const shown = (locale: string, as = shopper) => titlesOf(id, as, `&locale=${locale}`)
      const first = ["en Cheese approved"]
      for (const locale of ["de-CH", "pt-BR", "ja", "en-GB"]) assert.deepStrictEqual(yield* shown(locale), first)
      yield* put(id, "es", { title: "Queso" }, asAdmin)
      assert.deepStrictEqual(yield* shown("pt-BR"), ["es Queso approved"])
      yield* put(id, "fr", { title: "Fromage" }, asAdmin)
      assert.deepStrictEqual(yield* shown("de-CH"), ["fr Fromage approved"])
      yield* put(id, "de", { title: "Käse" })
      assert.deepStrictEqual([yield* shown("de-CH"), yield* shown("de-CH", asStaff)], [
        ["fr Fromage approved"],
        ["de Käse draft"]
      ])
      yield* decide(id, "de", "approve")
      assert.deepStrictEqual(yield* shown("de-CH"), ["de Käse approved"])
      const list = yield* api("GET", `${entities}?type=chained&include=attributes&locale=de-CH`, { as: shopper })
      assert.deepStrictEqual(list.at("data.0.attributes.0.title"), "Käse")
      assert.strictEqual(list.list("data.0.attributes").length, 1)
      assert.strictEqual(yield* wordsOf(id, "de-CH", shopper), 404)
      assert.deepStrictEqual(yield* wordsOf(id, "de-CH", shopper, "?fallback=true"), ["de", "Käse", null, "approved"])
      assert.strictEqual((yield* titlesOf(id, shopper)).length, 4)
      yield* refused("GET", `${entities}/${slug}?locale=`, undefined, 422)
      const found = (locale: string) =>
        Effect.map(searching(`type=chained&locale=${locale}`, shopper), ({ answer }) =>
          answer.at("data.0.document.title"))
      assert.deepStrictEqual([yield* found("de-CH"), yield* found("pt"), yield* found("ja")], [
        "Käse",
        "Queso",
        "Cheese"
      ])
      assert.deepStrictEqual(yield* suggested("prefix=que&type=chained&locale=de", shopper), [])
      assert.deepStrictEqual(yield* suggested("prefix=que&type=chained&locale=pt", shopper), ["Queso"])
      assert.deepStrictEqual(yield* suggested("prefix=que&type=chained", shopper), ["Queso"])
    }))
})
