import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { declaredType, dispositionOf, knownContentTypes, savedName } from "../../src/domain/media/MediaAsset.ts"
import { detectContentType } from "../../src/layers/media/LocalStorage.ts"
import { aDrawing, aPage, aPdf, aPicture, aVideo, type Format } from "./MediaFixtures.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const typeOf = (head: Uint8Array) => Effect.promise(() => detectContentType(head))
/** The head of a Matroska file of this kind. */
const matroska = (kind: string) =>
  new Uint8Array([0x1a, 0x45, 0xdf, 0xa3, 0x80 + kind.length + 3, 0x42, 0x82, 0x80 + kind.length, ...bytes(kind)])

describe("the type of a file", () => {
  it.effect("the type of a file is detected from its bytes, for each type", () =>
    Effect.gen(function*() {
      const formats: ReadonlyArray<Format> = ["png", "jpeg", "gif", "webp", "avif"]
      const found = yield* Effect.forEach(formats, (format) => Effect.flatMap(aPicture(format), typeOf))
      const others = yield* Effect.forEach([aPdf, aDrawing, aVideo, matroska("webm")], typeOf)
      assert.sameMembers([...found, ...others], [...knownContentTypes])
    }))

  it.effect("an animated PNG and one whose texts fill the head are PNG", () =>
    Effect.gen(function*() {
      const png = yield* aPicture("png")
      for (const [type, size] of [["acTL", 8], ["tEXt", 10_000]] as const) {
        const length = new Uint8Array(4)
        new DataView(length.buffer).setUint32(0, size)
        const extra = [...length, ...bytes(type), ...new Uint8Array(size + 4)]
        const head = new Uint8Array([...png.subarray(0, 33), ...extra, ...png.subarray(33)]).slice(0, 4_096)
        assert.strictEqual(yield* typeOf(head), "image/png", type)
      }
    }))

  it.effect("other bytes have no type that can be uploaded", () =>
    Effect.gen(function*() {
      const strange = [
        aPage,
        new Uint8Array(0),
        bytes("plain text"),
        bytes("\n%PDF-1.7"),
        bytes("RIFF1234WAVE"),
        bytes("PNG"),
        bytes("<html><svg></svg></html>"),
        bytes("<!doctype html><svg>"),
        bytes("{\"svg\": \"<svg>\"}"),
        new Uint8Array([0, 0, 0, 24, ...bytes("ftypqt  ")]),
        matroska("matroska")
      ]
      const found = yield* Effect.forEach(strange, typeOf)
      assert.deepStrictEqual(found.filter((type) => type !== undefined && knownContentTypes.includes(type)), [])
    }))

  it("a declared type has several spellings, and an unknown one is undefined", () => {
    assert.deepStrictEqual(
      ["image/jpg", "IMAGE/PNG; charset=x", "application/octet-stream", "", "text/html"].map(declaredType),
      ["image/jpeg", "image/png", undefined, undefined, "text/html"]
    )
  })
})

describe("the name of a file", () => {
  it("a saved name contains no path and no special characters", () => {
    const names = [
      "a b.png",
      "../../etc/passwd",
      "C:\\dir\\x.png",
      "..",
      "",
      "a\r\nb\u0000.png",
      "gp\u202egnp.exe",
      "Tür 1.png"
    ]
    const kept = ["a b.png", "passwd", "x.png", "file.png", "file.png", "ab.png", "gpgnp.exe", "Tür 1.png"]
    assert.deepStrictEqual(names.map((name) => savedName(name, "png")), kept)
    assert.lengthOf(savedName("x".repeat(5_000), "png"), 200)
  })

  it("a name is in the header twice, in ASCII and in UTF-8", () => {
    const name = "Tür \"1\"; x=%41.png"
    assert.strictEqual(
      dispositionOf("image/png", name),
      "inline; filename=\"T_r _1_; x=_41.png\"; filename*=UTF-8''T%C3%BCr%20%221%22%3B%20x%3D%2541.png"
    )
    for (const active of ["image/svg+xml", "text/html"]) assert.match(dispositionOf(active, "x"), /^attachment/)
  })
})
