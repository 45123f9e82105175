import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { headerText, type Mail, type MailOf, type MailTemplate } from "../../src/domain/mail/Mail.ts"
import type { MailLocales } from "../../src/domain/mail/MailContent.ts"
import { newId, type OrderId } from "../../src/domain/platform/ids/Id.ts"
import { moneyText, personName } from "../../src/domain/platform/money/DisplayText.ts"
import { developmentKeyring, readKeyring } from "../../src/domain/webhooks/SecretEncryption.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { encryptMail, openMail } from "../../src/layers/mail/MailEncryption.ts"
import { previewMail, previewTemplates, sampleMails } from "../../src/layers/mail/MailPreview.ts"
import { renderMail } from "../../src/layers/mail/MailTexts.ts"
import { withoutPrivate } from "../../src/layers/mail/MailTransport.ts"

const to = "ann@home.example"
const organizationId = "org_default"

/** Without tax in its prices. */
const confirmation: MailOf<"order-confirmation"> = {
  ...sampleMails["order-confirmation"],
  to,
  data: {
    ...sampleMails["order-confirmation"].data,
    lines: [{ title: "Mug <script>alert(1)</script> & \"saucer\"", sku: "M-1", quantity: 2, totalPrice: 2550 }],
    subtotal: 2550,
    shippingTotal: 0,
    taxTotal: 10,
    grandTotal: 2510,
    shippingAddress: { line1: "1 Main St", city: "Springfield", postalCode: "12345", country: "US", extra: { a: 1 } }
  }
}

const resetData = { resetUrl: "https://shop.example/reset?token=t&x=1", userName: "Ann <b>Lee</b>" }

const mails: { readonly [T in MailTemplate]: MailOf<T> } = {
  ...sampleMails,
  "password-reset": { ...sampleMails["password-reset"], data: resetData },
  "order-confirmation": confirmation
}

const options = { storeName: "Mugs & Co", locale: "en", locales: {} }

const render = (mail: Mail, locales: MailLocales = {}, locale = "en") =>
  renderMail(mail, { ...options, locale, locales })

describe("the texts of a mail", () => {
  for (const mail of Object.values(mails)) {
    it(`the mail ${mail.template} names the store and is complete in both forms`, () => {
      const { html, subject, text } = render(mail)
      assert.match(subject, /^[^\r\n]{5,200}$/)
      assert.include(text, "Mugs & Co")
      assert.include(html, "Mugs &amp; Co")
      assert.match(html, /^<!doctype html>\n<html lang="en">[^]*<\/html>\n$/)
      assert.notMatch(html + text, /undefined|\[object/)
    })
  }

  it("a mail shows its link as text and as a button", () => {
    const { html, text } = render(mails["password-reset"])
    assert.include(text, "https://shop.example/reset?token=t&x=1\n")
    assert.include(html, "href=\"https://shop.example/reset?token=t&amp;x=1\"")
  })

  it("a mail names the variant of an item", () => {
    assert.include(render(sampleMails["order-confirmation"]).text, "2 × Mug & saucer, blue (M-1)")
    assert.match(render(sampleMails["order-return"]).text, /1 × Linen Shirt, M \/ navy +S-1/)
  })

  it("a mail escapes user input", () => {
    const { html } = render(mails["order-confirmation"])
    assert.include(html, "Mug &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;saucer&quot;")
    assert.notMatch(html, /<script|<b>/)
  })

  it("a mail contains no link but to a page", () => {
    for (const resetUrl of ["javascript:alert(1)", "data:text/html,x", "https://a.example/ x", "not a link"]) {
      const { html, text } = render({ ...mails["password-reset"], data: { resetUrl, userName: "" } })
      assert.notInclude(html, "href")
      assert.notInclude(text, resetUrl)
    }
  })

  it("a mail greets by name, unless the name contains an address", () => {
    assert.strictEqual(personName("  Ann\r\n O'Neill-Smith Jr. "), "Ann O'Neill-Smith Jr.")
    for (const name of ["", "Win at evil.example", "see https://e", "www.e", "a@b", "x".repeat(81)]) {
      assert.isUndefined(personName(name), name)
    }
    assert.include(render(mails["password-reset"]).text, "Hello Ann <b>Lee</b>,")
  })

  it("a confirmation names the tax that prices include in a note only", () => {
    const { text } = render({ ...confirmation, data: { ...confirmation.data, taxIncluded: true, grandTotal: 2500 } })
    assert.include(text, "The total includes $0.10 of tax.")
    assert.notMatch(text, /^ *Tax /m)
    assert.notInclude(render(confirmation).text, "includes")
  })

  it("amounts are formatted for the language and the currency", () => {
    assert.strictEqual(moneyText(2510, "USD", "en"), "$25.10")
    assert.strictEqual(moneyText(1500, "JPY", "en"), "¥1,500")
    assert.match(moneyText(-1234, "KWD", "en"), /^-KWD.1\.234$/)
    assert.match(moneyText(123456, "EUR", "de"), /^1\.234,56.€$/)
    const { text } = render(mails["order-confirmation"])
    for (
      const line of [/Subtotal +\$25\.50/, /Discount +-\$0\.50/, /Tax +\$0\.10/, /Total +\$25\.10/, /12345 Springfield/]
    ) {
      assert.match(text, line)
    }
  })
})

describe("the preview of a mail", () => {
  it.effect("the preview renders each template as HTML with the deployment's texts", () =>
    Effect.gen(function*() {
      const settings = yield* readSettings({
        storeName: "Mugs & Co",
        email: {
          templates: { de: { "password-reset": () => ({ subject: "Neues Passwort", paragraphs: ["Guten Tag"] }) } }
        }
      }).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({})))
      for (const template of previewTemplates([])) {
        const html = yield* previewMail(settings, template, undefined)
        assert.match(html, /^<!doctype html>\n<html lang="en">[^]*Mugs &amp; Co[^]*<\/html>\n$/, template)
      }
      assert.include(yield* previewMail(settings, "password-reset", "de-AT"), "Guten Tag")
    }))
})

describe("texts of a deployment", () => {
  const german: MailLocales = {
    de: { "password-reset": ({ userName }) => ({ subject: `Hallo ${userName}\r\nBcc: x@y`, paragraphs: ["<Grüße>"] }) },
    en: {
      "email-verification": ({ verifyUrl }, { storeName }) => ({
        subject: storeName,
        text: verifyUrl,
        html: "<b>as it is</b>"
      })
    }
  }
  const reset = (locale: string): Mail => ({ ...mails["password-reset"], locale })

  it("texts are those of the mail's language or of its parent", () => {
    for (const locale of ["de", "de-AT", "DE-ch-1996"]) {
      const { html, subject } = render(reset(locale), german)
      assert.strictEqual(subject, "Hallo Ann <b>Lee</b> Bcc: x@y")
      assert.include(html, "&lt;Grüße&gt;")
      assert.include(html, "<html lang=\"de\">")
    }
  })

  it("texts are those of the deployment's language by default and for unknown languages", () => {
    assert.match(render(mails["password-reset"], german, "de").subject, /^Hallo/)
    assert.match(render(reset("fr"), german, "de").subject, /^Hallo/)
    assert.match(render(reset("no such tag!"), german, "de").subject, /^Hallo/)
    assert.match(render(reset("en-GB"), german, "de").subject, /^Choose a new password/)
  })

  it("texts are English where a language has none, and can be complete documents", () => {
    assert.match(render({ ...mails["order-status-change"], locale: "de" }, german).subject, /^Your order/)
    assert.deepStrictEqual(render(mails["email-verification"], german), {
      subject: "Mugs & Co",
      text: "https://shop.example/verify?token=sample",
      html: "<b>as it is</b>"
    })
  })
})

describe("a subject", () => {
  it("a subject cannot end its header line", () => {
    assert.strictEqual(headerText("a\r\nBcc: b\u2028c\0d"), "a Bcc: b c d")
    assert.strictEqual(headerText("😀".repeat(101)).isWellFormed(), true)
  })
})

describe("what others say of a mail", () => {
  it("an error message contains no links, addresses and keys, and is one line", () => {
    const recorded = withoutPrivate(
      "554 5.7.1 <ann@home.example>:\r\n https://a.example/x?token=1 smtp://u:p@h k=abcdefghijklmnopqrstuvwxyz no"
    )
    assert.strictEqual(recorded, "554 5.7.1 <…>: … … … no")
    assert.strictEqual(withoutPrivate("\r\n"), "no reason given")
  })
})

describe("a mail that waits", () => {
  it("a queued mail decrypts with the keys of the deployment and in its organization only", () => {
    for (const mail of Object.values(mails)) {
      const encrypted = encryptMail(developmentKeyring, mail)
      assert.notMatch(JSON.stringify(encrypted), /ann@|home|token|shop\.example/)
      assert.deepStrictEqual(openMail(developmentKeyring, organizationId, encrypted), mail)
      assert.isUndefined(openMail(developmentKeyring, "org_other", encrypted))
      const changed = { ...encrypted, encrypted: `${encrypted.encrypted.slice(0, -8)}AAAAAAA=` }
      assert.isUndefined(openMail(developmentKeyring, organizationId, changed))
    }
    const [key] = readKeyring(Buffer.alloc(32, 1).toString("base64")) ?? []
    if (key === undefined) return assert.fail("no key")
    const encrypted = encryptMail(developmentKeyring, mails["password-reset"])
    assert.isUndefined(openMail([key], organizationId, encrypted))
    assert.isDefined(openMail([key, ...developmentKeyring], organizationId, encrypted))
  })

  it("a queued mail of an older version is still decoded", () => {
    const data = { orderId: newId<OrderId>(), newStatus: "confirmed", previousStatus: "pending" }
    const older: Mail = { template: "order-status-change", to, organizationId, data }
    const opened = openMail(developmentKeyring, organizationId, encryptMail(developmentKeyring, older))
    assert.deepStrictEqual(opened, older)
    assert.include(opened === undefined ? "" : render(opened).subject, data.orderId)
  })
})
