import { assert } from "@effect/vitest"
import { Effect } from "effect"
import {
  brands,
  categories,
  change,
  entities,
  make,
  refused,
  searching,
  shopper,
  suggested
} from "../catalog/CatalogCalls.ts"
import { api, asAdmin, asStaff, withApp } from "../support/TestApp.ts"

/** A published product with these words; its slug is its first word, small, with a mark of the test. */
const product = (mark: string, title: string, description = "", more: object = {}) =>
  make({
    slug: `${title.split(" ")[0]?.toLowerCase()}-${mark}`,
    status: "active",
    attributes: { title: `${title} ${mark}`, description },
    ...more
  })

const attached = Effect.fnUntraced(function*(id: string, category: string, brand: string) {
  const made = yield* change("POST", categories, { slug: category })
  yield* change("POST", `${entities}/${id}/categories/${made.text("data.id")}`)
  const maker = yield* change("POST", brands, { slug: brand, displayName: "Maker" })
  yield* change("POST", `${entities}/${id}/brands/${maker.text("data.id")}`)
  return { categoryId: made.text("data.id"), brandId: maker.text("data.id") }
})

withApp("search over HTTP", (it) => {
  it.effect("facets that no entity has are named, and those without a hit are not", () =>
    Effect.gen(function*() {
      yield* product("ignored", "Boots", "", { metadata: { weave: "twill" } })
      const ask = (facets: string, headers = {}) =>
        api("GET", `/api/search?q=nothing-has-these-words&attr.weave=twill&facets=${facets}`, { as: asAdmin, headers })
      const answer = yield* ask("type,weave,attr.weave,waeve")
      assert.deepStrictEqual([answer.status, answer.headers.get("x-ignored-fields")], [200, "facets.waeve"])
      assert.strictEqual((yield* ask("type,waeve", { prefer: "handling=strict" })).status, 422)
      assert.strictEqual((yield* ask("type,weave", { prefer: "handling=strict" })).status, 200)
    }))

  it.effect("a hit has the shape of the contract", () =>
    Effect.gen(function*() {
      const { id } = yield* product("alba", "Boots", "for snow", {
        metadata: { material: "wool", downloadUrl: "s3://secret", depth: { of: 1 } }
      })
      yield* attached(id, "footwear-alba", "acme-alba")
      yield* change("POST", `${entities}/${id}/options`, { name: "size", values: ["41", "42"] })
      yield* change("POST", `${entities}/${id}/variants`, { options: { size: "41" }, sku: "ALBA-41" })
      const found = yield* searching("q=alba")
      assert.deepStrictEqual(found.answer.body, {
        data: [{
          id,
          score: 2,
          document: {
            id,
            organizationId: "org_default",
            type: "product",
            slug: "boots-alba",
            title: "Boots alba",
            description: "for snow",
            status: "active",
            isVisible: true,
            categories: ["footwear-alba"],
            brands: ["acme-alba"],
            text: "boots-alba Boots alba for snow footwear-alba acme-alba",
            attributes: { material: ["wool"], size: ["41"] },
            payload: { metadata: { material: "wool", downloadUrl: "s3://secret", depth: { of: 1 } } }
          },
          inStock: false
        }],
        meta: {
          total: 1,
          page: 1,
          limit: 20,
          facets: {
            type: { product: 1 },
            category: { "footwear-alba": 1 },
            brand: { "acme-alba": 1 },
            status: { active: 1 }
          }
        }
      })
      const seen = yield* searching("q=alba", shopper)
      assert.deepStrictEqual(seen.answer.at("data.0.document.payload.metadata"), {
        material: "wool",
        depth: { of: 1 }
      })
    }))

  it.effect("a hit says whether a unit can be had at once", () =>
    Effect.gen(function*() {
      const { id: cup } = yield* product("dunite", "Cup")
      yield* product("dunite", "Plate")
      yield* product("dunite", "Lesson", "", { type: "course" })
      yield* change("POST", "/api/inventory/adjust", { entityId: cup, type: "restock", quantity: 1 })
      const { answer, slugs } = yield* searching("q=dunite")
      const inStock = slugs.map((slug, n) => [slug, answer.at(`data.${n}.inStock`)])
      assert.sameDeepMembers(inStock, [["cup-dunite", true], ["plate-dunite", false], ["lesson-dunite", true]])
    }))

  it.effect("a hit without words has its slug for a title, and no description or attributes", () =>
    Effect.gen(function*() {
      yield* make({ slug: "wordless-thing", status: "active" })
      const { answer } = yield* searching("q=wordless")
      assert.strictEqual(answer.at("data.0.document.title"), "wordless-thing")
      assert.isFalse(["description", "attributes"].some((key) => key in Object(answer.at("data.0.document"))))
    }))

  it.effect("words must all be found, in titles before descriptions, then by title", () =>
    Effect.gen(function*() {
      yield* product("beryl", "Zebra lamp", "")
      yield* product("beryl", "Anchor", "a lamp of brass")
      yield* product("beryl", "Lamp", "")
      yield* product("beryl", "Chair", "of brass")
      assert.deepStrictEqual((yield* searching("q=lamp+beryl")).slugs, ["lamp-beryl", "zebra-beryl", "anchor-beryl"])
      assert.deepStrictEqual((yield* searching("q=BRASS+beryl+lamp")).slugs, ["anchor-beryl"])
      const { answer } = yield* searching("q=lamp+beryl")
      assert.deepStrictEqual([0, 1, 2].map((n) => answer.number(`data.${n}.score`)), [4, 4, 3])
    }))

  it.effect("words are found by stems of the languages, without accents, by their beginning and by code", () =>
    Effect.gen(function*() {
      const { id } = yield* product("cobalt", "Running shoes", "")
      yield* change("PUT", `${entities}/${id}/attributes/de-CH`, { title: "Häuser Änderung cobalt" })
      yield* change("PUT", `${entities}/${id}/attributes/fr`, { title: "Élan d’été cobalt" })
      yield* change("POST", `${entities}/${id}/variants`, { options: {}, sku: "XK-9000/b" })
      const asked = "run shoe haus hauser ÄNDERUNGEN elan été ETE runn cob xk-9000 9000"
      for (const q of asked.split(" ")) {
        assert.deepStrictEqual((yield* searching(`q=cobalt+${encodeURIComponent(q)}`)).slugs, ["running-cobalt"], q)
      }
      assert.strictEqual((yield* searching("q=cobalt+bicycle+trumpet")).total, 0)
    }))

  it.effect("words that mean nothing by themselves do not narrow, unless nothing else is asked", () =>
    Effect.gen(function*() {
      yield* product("dune", "Kettle", "The best of all")
      assert.strictEqual((yield* searching("q=the+kettle+of+dune")).total, 1)
      assert.isAtLeast((yield* searching("q=the")).total, 1)
    }))

  it.effect("words with typing errors find what was meant, but only where they find nothing else", () =>
    Effect.gen(function*() {
      yield* product("ember", "Telescope", "")
      yield* product("ember", "Shirt", "")
      for (const q of ["telescpoe", "teleskope", "telscope", "escope", "TELESCOPEX"]) {
        assert.deepStrictEqual((yield* searching(`q=${q}`)).slugs, ["telescope-ember"], q)
      }
      for (const q of ["shrit+ember", "shert+ember", "ember+shrt"]) {
        assert.deepStrictEqual((yield* searching(`q=${q}`)).slugs, ["shirt-ember"], q)
      }
      yield* product("ember", "Shert", "")
      assert.deepStrictEqual((yield* searching("q=shert+ember")).slugs, ["shert-ember"])
      assert.strictEqual((yield* searching("q=xqzwvy")).total, 0)
    }))

  it.effect("words beyond 500 characters are cut off, and are cut between characters", () =>
    Effect.gen(function*() {
      yield* product("flint", "Compass", "")
      const q = `flint${" ".repeat(495)}`
      assert.strictEqual((yield* searching(`q=${encodeURIComponent(`${q}nothing`)}`)).total, 1)
      assert.strictEqual((yield* searching(`q=${encodeURIComponent(`flint${" ".repeat(494)}x`)}`)).total, 0)
      assert.strictEqual((yield* searching(`q=${encodeURIComponent("😀".repeat(600))}`)).total, 0)
      assert.strictEqual((yield* searching(`q=${encodeURIComponent("a ".repeat(250))}`)).answer.status, 200)
    }))

  it.effect("words of marks alone, quotes and operators ask for nothing and break nothing", () =>
    Effect.gen(function*() {
      for (
        const q of ["!!!", "'", "\\", "a:* & | !", "'; drop table search_documents; --", "%_%", "<->", "🔥", "'':*"]
      ) assert.strictEqual((yield* searching(`q=${encodeURIComponent(q)}&type=nothing-of-it`)).total, 0, q)
      assert.strictEqual((yield* searching(`q=${encodeURIComponent("!!!")}`)).total, 0)
      yield* refused("GET", "/api/search?q=a%00b", undefined, 422)
    }))

  it.effect("filters narrow by type, status, category and brand; unknown ones find nothing", () =>
    Effect.gen(function*() {
      const one = yield* product("garnet", "One", "", { type: "garnet-type" })
      yield* attached(one.id, "things-garnet", "maker-garnet")
      yield* make({ slug: "two-garnet", type: "garnet-type", attributes: { title: "Two garnet" } })
      const by = (query: string) => Effect.map(searching(query), ({ slugs }) => slugs)
      assert.deepStrictEqual(yield* by("type=garnet-type"), ["one-garnet", "two-garnet"])
      assert.deepStrictEqual(yield* by("type=garnet-type&status=draft"), ["two-garnet"])
      assert.deepStrictEqual(yield* by("category=things-garnet"), ["one-garnet"])
      assert.deepStrictEqual(yield* by("brand=maker-garnet&q=one"), ["one-garnet"])
      assert.deepStrictEqual(yield* by("brand=maker-garnet&q=two"), [])
      for (const unknown of ["type=x", "status=sold", "category=x", "brand=x", "attr.x=y"]) {
        assert.deepStrictEqual(yield* by(`q=garnet&${unknown}`), [], unknown)
      }
    }))

  it.effect("filters by attributes take one of the values of a name, and all names", () =>
    Effect.gen(function*() {
      yield* product("hazel", "A", "", { metadata: { color: "red", "year-made": 1999 } })
      yield* product("hazel", "B", "", { metadata: { color: "blue", "year-made": 1999, isNew: true } })
      yield* product("hazel", "C", "", { metadata: { color: "green", "year-made": 2001 } })
      const by = (query: string) => Effect.map(searching(`q=hazel&${query}`), ({ slugs }) => slugs.join())
      assert.strictEqual(yield* by("attr.color=red"), "a-hazel")
      assert.strictEqual(yield* by("attr.color=red&attr.color=green"), "a-hazel,c-hazel")
      assert.strictEqual(yield* by("attr.color=red&attr.color=green&attr.year-made=1999"), "a-hazel")
      assert.strictEqual(yield* by("attr.isNew=true"), "b-hazel")
      assert.strictEqual(yield* by(`attr.color=${"x".repeat(500)}`), "")
    }))

  it.effect("filters by attributes whose names have other characters are refused", () =>
    Effect.gen(function*() {
      for (const name of ["attr.", "attr.a%20b", "attr.a.b", "attr.%C3%A9", "attr.a%27"]) {
        yield* refused("GET", `/api/search?${name}=1`, undefined, 422)
      }
      yield* refused("GET", "/api/search?attr.a=b%00c", undefined, 422)
      const many = Array.from({ length: 101 }, (_, n) => `attr.a=${n}`).join("&")
      yield* refused("GET", `/api/search?${many}`, undefined, 422)
    }))

  it.effect("filters are needed where no words are: nothing asked finds nothing", () =>
    Effect.gen(function*() {
      for (const query of ["", "q=", "q=%20%20", "page=2&limit=5&type="]) {
        const { facets, slugs, total } = yield* searching(query)
        assert.deepStrictEqual([slugs, total, facets], [[], 0, { type: {}, category: {}, brand: {}, status: {} }])
      }
    }))

  it.effect("a page has total and facets of all that was found, and is clamped like every list", () =>
    Effect.gen(function*() {
      for (const letter of "abcde") {
        yield* product("ivory", letter, "", { type: letter < "c" ? "ivory-1" : "ivory-2" })
      }
      const at = (page: string) => searching(`q=ivory&limit=2&page=${page}`)
      const first = yield* at("1")
      assert.deepStrictEqual([first.slugs, first.total], [["a-ivory", "b-ivory"], 5])
      assert.deepStrictEqual(first.answer.at("meta.facets.type"), { "ivory-1": 2, "ivory-2": 3 })
      const last = yield* at("3")
      assert.deepStrictEqual([last.slugs, last.total, last.facets], [["e-ivory"], 5, first.facets])
      const beyond = yield* at("9")
      assert.deepStrictEqual([beyond.slugs, beyond.total, beyond.facets], [[], 5, first.facets])
      const { answer } = yield* searching("q=ivory&limit=1000&page=-3")
      assert.deepStrictEqual([answer.at("meta.page"), answer.at("meta.limit")], [1, 100])
      assert.deepStrictEqual(Object.keys(Object(answer.at("meta"))).toSorted(), ["facets", "limit", "page", "total"])
    }))

  it.effect("a page counts the facets that are named, attributes among them", () =>
    Effect.gen(function*() {
      yield* product("jade", "A", "", { metadata: { color: "red" } })
      yield* product("jade", "B", "", { metadata: { color: "red" } })
      yield* product("jade", "C", "", { metadata: { color: "blue" } })
      const facetsOf = (names: string) =>
        Effect.map(searching(`q=jade&facets=${encodeURIComponent(names)}`), ({ facets }) => facets)
      assert.deepStrictEqual(yield* facetsOf("attr.color, status"), {
        "attr.color": { red: 2, blue: 1 },
        status: { active: 3 }
      })
      assert.deepStrictEqual(yield* facetsOf("color,unused-attribute,color"), {
        color: { red: 2, blue: 1 },
        "unused-attribute": {}
      })
      for (const names of ["a b", "attr.", "x'", Array.from({ length: 21 }, (_, n) => n).join()]) {
        const path = `/api/search?q=jade&facets=${encodeURIComponent(names)}`
        yield* refused("GET", path, undefined, 422)
      }
    }))

  it.effect("search finds, counts and suggests only visible products, for any requested status", () =>
    Effect.gen(function*() {
      yield* product("kelp", "Open", "")
      yield* make({ slug: "draft-kelp", attributes: { title: "Draft kelp" } })
      const hidden = yield* product("kelp", "Hidden", "")
      yield* change("PATCH", `${entities}/${hidden.id}`, { isVisible: false })
      for (const as of [shopper, "visitor"] as const) {
        const { facets, slugs, total } = yield* searching("q=kelp", as)
        assert.deepStrictEqual([slugs, total, Object(facets).status], [["open-kelp"], 1, { active: 1 }])
        assert.strictEqual((yield* searching("q=kelp&status=draft", as)).total, 0)
        assert.strictEqual((yield* searching("q=kepl+draft", as)).total, 0)
        assert.deepStrictEqual(yield* suggested("prefix=draft+k", as), [])
        assert.deepStrictEqual(yield* suggested("prefix=open+k", as), ["Open kelp"])
      }
      for (const as of [asAdmin, asStaff]) {
        assert.deepStrictEqual((yield* searching("q=kelp", as)).slugs, ["draft-kelp", "hidden-kelp", "open-kelp"])
        assert.deepStrictEqual(yield* suggested("prefix=draft+k", as), ["Draft kelp"])
      }
    }))

  it.effect("suggestions are titles that begin with the prefix in any case, in order, each once", () =>
    Effect.gen(function*() {
      for (const title of ["Lilac Vase", "lilac bowl", "LÍLAC cup", "The lilac", "Lilac+ set"]) {
        yield* make({ status: "active", type: "lilac", attributes: { title } })
      }
      const again = yield* make({ status: "active", attributes: { title: "Lilac Vase" } })
      yield* change("PUT", `${entities}/${again.id}/attributes/de`, { title: "Lilac Blumen" })
      assert.deepStrictEqual(yield* suggested("prefix=liLAC"), [
        "Lilac Blumen",
        "lilac bowl",
        "LÍLAC cup",
        "Lilac Vase",
        "Lilac+ set"
      ])
      assert.deepStrictEqual(yield* suggested("prefix=lilac+b&type=lilac"), ["lilac bowl"])
      assert.deepStrictEqual(yield* suggested("prefix=lilac%2B"), ["Lilac+ set"])
      assert.deepStrictEqual(yield* suggested("prefix=%25il"), [])
      yield* refused("GET", "/api/search/suggest?prefix=a%00b", undefined, 422)
    }))

  it.effect("suggestions need two characters", () =>
    Effect.gen(function*() {
      yield* make({ status: "active", attributes: { title: "Mo" } })
      for (const none of ["", "prefix=", "prefix=m", "prefix=+m", "prefix=%F0%9F%98%80"]) {
        assert.deepStrictEqual(yield* suggested(none), [], none)
      }
      assert.deepStrictEqual(yield* suggested("prefix=mo"), ["Mo"])
    }))

  it.effect("suggestions are 10 unless said otherwise, and at most 25", () =>
    Effect.gen(function*() {
      for (let n = 10; n < 40; n++) yield* make({ attributes: { title: `Opal ${n}` } })
      for (
        const [limit, count] of [["", 10], ["&limit=3", 3], ["&limit=99", 25], ["&limit=0", 10], ["&limit=x", 10]]
      ) assert.strictEqual((yield* suggested(`prefix=opal${limit}`)).length, count, String(limit))
    }))
})
