import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { AdapterMail } from "../../src/layers/mail/AdapterTransport.ts"
import { type Browser, makeBrowser } from "../support/Browser.ts"
import { eventually } from "../support/Eventually.ts"
import type { Answer } from "../support/TestApp.ts"

/** A password that nobody would guess. */
export const password = "correct horse battery"

/** An address that nobody has yet. */
export const newEmail = (): string => `${randomUUID()}@example.com`

/** Somebody who has signed up, with the browser that he did it in. */
export interface Visitor {
  readonly browser: Browser
  readonly email: string
  readonly userId: string
  readonly answer: Answer
}

/** Signs somebody up; where addresses need no verification he is signed in then. */
export const aVisitor = Effect.fnUntraced(function*(email: string = newEmail(), browser: Browser = makeBrowser()) {
  const answer = yield* browser.post("/api/auth/sign-up/email", { name: "Ada", email, password })
  const visitor: Visitor = { browser, email, userId: answer.text("user.id"), answer }
  return visitor
})

/** The refusal in both forms: the service's envelope, and the fields of better-auth beside it. */
export const refused = (answer: Answer, status: number, code: string) => {
  assert.deepStrictEqual([answer.status, answer.at("code"), answer.at("error.code")], [status, code, code])
  assert.strictEqual(answer.at("error.message"), answer.at("message"))
}

/** Signs in with a browser of its own. */
export const signIn = Effect.fnUntraced(
  function*(email: string, secret: string = password, browser: Browser = makeBrowser()) {
    const answer = yield* browser.post("/api/auth/sign-in/email", { email, password: secret })
    return { browser, answer }
  }
)

/**
 * Follows a link of verification and presses its button, in a browser that knows nobody unless one is given; there the
 * password is what the account has afterwards.
 */
export const verify = (link: URL, browser: Browser = makeBrowser(), newPassword = password) => {
  const token = link.searchParams.get("token")
  return browser.post(`${link.pathname}${link.search}`, { token, newPassword })
}

/** Keeps the mails that a deployment sends. */
export const makeOutbox = () => {
  const mails: Array<AdapterMail> = []
  return {
    mails,
    send: (mail: AdapterMail) => Effect.sync(() => mails.push(mail)),
    /** The link of the newest mail of a template to somebody, once it has been sent; taken out of the box. */
    linkTo: (to: string, template: AdapterMail["template"]) =>
      eventually(
        `a mail ${template}`,
        Effect.sync(() => {
          const at = mails.findIndex((mail) => mail.to === to && mail.template === template)
          const [mail] = at === -1 ? [] : mails.splice(at, 1)
          const link = mail && Object.entries(mail.data).find(([name]) => name.endsWith("Url"))?.[1]
          return typeof link === "string" ? new URL(link) : undefined
        })
      )
  }
}
