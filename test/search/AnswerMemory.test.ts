import { assert, it } from "@effect/vitest"
import { AnswerMemory, type KnownAnswer, longest } from "../../src/domain/search/AnswerMemory.ts"

const answer = (total: number, values = 1): KnownAnswer => ({
  at: "1:1:",
  parts: null,
  total,
  facets: { brand: Object.fromEntries(Array.from({ length: values }, (_, n) => [`brand-${n}`, 1])) },
  places: []
})

it("an answer is remembered for five minutes", () => {
  const memory = new AnswerMemory()
  memory.keep("lamp", answer(1), 0)
  assert.strictEqual(memory.find("lamp", longest - 1)?.total, 1)
  assert.isUndefined(memory.find("lamp", longest))
})

it("the last answer to a question is the one that is remembered", () => {
  const memory = new AnswerMemory()
  memory.keep("lamp", answer(1), 0)
  memory.keep("lamp", answer(2), 10)
  assert.strictEqual(memory.find("lamp", longest + 5)?.total, 2)
})

it("of many questions the one that nobody has asked for longest is forgotten", () => {
  const memory = new AnswerMemory()
  for (let n = 0; n < 500; n++) memory.keep(`q${n}`, answer(n), 0)
  assert.strictEqual(memory.find("q0", 1)?.total, 0)
  memory.keep("one more", answer(7), 1)
  assert.isUndefined(memory.find("q1", 1))
  assert.deepStrictEqual([memory.find("q0", 1)?.total, memory.find("one more", 1)?.total], [0, 7])
})

it("an answer with thousands of values is not remembered, nor the one before it", () => {
  const memory = new AnswerMemory()
  memory.keep("lamp", answer(1), 0)
  memory.keep("lamp", answer(2, 2_001), 1)
  assert.isUndefined(memory.find("lamp", 1))
})
