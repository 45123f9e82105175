import { assert, describe, it } from "@effect/vitest"
import { detectContentType } from "../../src/layers/media/LocalStorage.ts"
import { redactText } from "../../src/layers/telemetry/Redaction.ts"

const elapsed = async (work: () => unknown) => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

describe("a text that a visitor repeats many times", () => {
  it.each(["secret", "a", "Key (", "parameter $1 = ", "bearer ", "x://", "pi_a", "invalid input syntax for type "])(
    "is redacted in linear time: %s",
    async (word) => assert.isBelow(await elapsed(() => redactText(word.repeat(16_384 / word.length))), 200)
  )

  it.each(["<!---->", "<!-- ", "<?xml ", "<!doctype svg ", " \n", "<!doctype svg><!-- -->"])(
    "is no drawing after bounded time: %s",
    async (piece) => {
      const upload = new TextEncoder().encode(piece.repeat(4_096 / piece.length))
      assert.isBelow(await elapsed(() => detectContentType(upload)), 500)
    }
  )
})
