import { assert, layer } from "@effect/vitest"
import { hashPassword } from "better-auth/crypto"
import { Effect, Fiber, Layer } from "effect"
import { AuthRepo } from "../../src/domain/auth/AuthRepo.ts"
import { Passwords } from "../../src/layers/auth/Passwords.ts"
import { TestDatabase } from "../support/Postgres.ts"

const passwords = Passwords.layer.pipe(Layer.provide(AuthRepo.layer), Layer.provide(TestDatabase))

layer(passwords, { excludeTestServices: true })("passwords", (it) => {
  it.effect("passwords are hashed with argon2id and a random salt", () =>
    Effect.gen(function*() {
      const { hash, verify } = yield* Passwords
      const one = yield* hash("a horse")
      assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
      assert.notStrictEqual(yield* hash("a horse"), one)
      assert.isTrue(yield* verify("a horse", one))
      assert.isFalse(yield* verify("a house", one))
      const [other = ""] = [one.split("$").at(-1)].map((tag) =>
        tag?.replace(/^./, (first) => first === "A" ? "B" : "A")
      )
      assert.isFalse(yield* verify("a horse", `${one.slice(0, one.lastIndexOf("$") + 1)}${other}`))
    }))

  it.effect("passwords are verified against older scrypt hashes", () =>
    Effect.gen(function*() {
      const { verify } = yield* Passwords
      const old = yield* Effect.promise(() => hashPassword("a horse"))
      assert.isTrue(yield* verify("a horse", old))
      assert.isFalse(yield* verify("a house", old))
    }))

  it.effect("passwords are hashed off the event loop, a few at once, with a limited queue", () =>
    Effect.gen(function*() {
      const { concurrency, hash } = yield* Passwords
      assert.isAtLeast(concurrency, 1)
      let [turns, isOver] = [0, false]
      const turn = () => void (turns++, isOver || setImmediate(turn))
      turn()
      const rounds = 8
      yield* Effect.all(Array.from({ length: rounds * concurrency }, () => hash("a horse")), {
        concurrency: "unbounded"
      })
      isOver = true
      // The loop turns at least once for each round; hashes on it would keep it from turning until the last.
      assert.isAtLeast(turns, rounds)
      const rush = yield* Effect.forEach(
        Array.from({ length: 230 }),
        () => Effect.forkChild(Effect.exit(hash("a horse")), { startImmediately: true })
      )
      const late = yield* Effect.forEach(rush.slice(200), Fiber.join)
      assert.isTrue(late.every(({ _tag }) => _tag === "Failure"))
      yield* Fiber.interruptAll(rush.slice(0, 200))
      assert.match(yield* hash("a horse"), /^\$argon2id/)
    }))
})
