import { assert, describe, it } from "@effect/vitest"
import { slugOf } from "../../src/domain/platform/text/SlugText.ts"

describe("the slug of a name", () => {
  it("keeps letters of any script and drops accents of Latin ones", () => {
    const slugs = {
      "Johnson & Sons": "johnson-sons",
      "  Café ÉCLAIR  ": "cafe-eclair",
      "Cafe\u0301": "cafe",
      "İstanbul": "istanbul",
      "Мёд й": "мёд-й",
      "蜂蜜 がく": "蜂蜜-がく",
      "한국어": "한국어",
      "हिन्दी": "हिन्दी",
      "ไทย น้ำ": "ไทย-น้ำ",
      "قهوة": "قهوة",
      "No. 5": "no-5"
    }
    for (const [name, slug] of Object.entries(slugs)) assert.strictEqual(slugOf(name), slug.normalize("NFC"), name)
  })

  it("is a short id where a name has no letter, always the same and different for different names", () => {
    assert.match(slugOf("🎁"), /^[0-9a-f]{8}$/)
    assert.strictEqual(slugOf("🎁"), slugOf(" 🎁 "))
    assert.notStrictEqual(slugOf("🎁"), slugOf("🎂"))
  })

  it("fits into a column, and long names that differ at their ends have different slugs", () => {
    const [one, other] = ["a", "b"].map((end) => slugOf("x".repeat(300) + end))
    assert.strictEqual(one?.length, 200)
    assert.notStrictEqual(one, other)
  })
})
