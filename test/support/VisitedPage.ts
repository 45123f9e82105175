import { Effect, Option, Schema } from "effect"
import { randomUUID } from "node:crypto"
import type { BrowserContext, Page } from "playwright-core"
import { answer } from "./ServiceCalls.ts"
import { ShopFronts } from "./ShopFronts.ts"
import type { Call } from "./TestApp.ts"

/** What a page sees of an answer; `failed` names the error when it sees none. */
const Reported = Schema.Struct({
  failed: Schema.optional(Schema.String),
  type: Schema.optional(Schema.String),
  status: Schema.optional(Schema.Number),
  headers: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  body: Schema.optional(Schema.Unknown)
})

const recorded = Schema.decodeUnknownOption(Reported)

/** Runs a function of the page's own script with these arguments and gives its result. */
export const run = (page: Page, name: string, ...args: ReadonlyArray<unknown>): Effect.Effect<unknown> =>
  Effect.promise(() => page.evaluate(`${name}(...${JSON.stringify(args)})`))

/** The same, for functions that tell of an answer. */
export const tell = (page: Page, name: string, ...args: ReadonlyArray<unknown>) =>
  Effect.map(run(page, name, ...args), (value) => Option.getOrThrow(recorded(value)))

/** Opens a page of an origin in somebody's browser. */
export const open = (visitor: BrowserContext, address: string): Effect.Effect<Page> =>
  Effect.promise(async () => {
    const page = await visitor.newPage()
    await page.goto(address)
    return page
  })

/** What the shop's page sees of an answer to its request; status 0 where its browser keeps the answer from it. */
export const callFrom = Effect.fnUntraced(function*(page: Page, method: string, path: string, options: Call = {}) {
  const { api } = yield* ShopFronts
  const { body, headers, status } = yield* tell(page, "call", method, `${api}${path}`, options)
  return answer(status ?? 0, new Headers(headers ?? {}), body)
})

/** Signs a visitor up at the shop's page, and gives the link in the mail. */
export const signUpAt = Effect.fnUntraced(function*(page: Page) {
  const { linkTo, shop } = yield* ShopFronts
  const person = { email: `${randomUUID()}@example.com`, password: "correct horse battery" }
  const body = { name: "Ada", ...person, callbackURL: `${shop}/shop.html?confirmed` }
  const answered = yield* callFrom(page, "POST", "/api/auth/sign-up/email", { body })
  return { ...person, answered, link: yield* linkTo(person.email) }
})

/** Follows the link of a mail, presses its button, with a new password where its page asks for one, and goes on. */
export const confirmAt = (page: Page, link: string, password?: string) =>
  Effect.promise(async () => {
    await page.goto(link)
    const field = page.locator("input[name=newPassword]")
    if (password !== undefined) await field.fill(password)
    else if (await field.count() > 0) throw new Error("the browser that signed up is asked for a new password")
    await page.locator("button").click()
    await page.getByRole("link", { name: "Continue" }).click()
    await page.waitForURL((url) => url.search === "?confirmed")
  })

/** A visitor at the shop's page who has signed up, confirmed the address and signed in. */
export const signedInAt = Effect.fnUntraced(function*(visitor: BrowserContext) {
  const { shop } = yield* ShopFronts
  const page = yield* open(visitor, `${shop}/shop.html`)
  const { email, link, password } = yield* signUpAt(page)
  yield* confirmAt(page, link)
  yield* callFrom(page, "POST", "/api/auth/sign-in/email", { body: { email, password } })
  return { page, email, password }
})
