import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import type { Mail, MailOf, MailTemplate } from "../../src/domain/mail/Mail.ts"
import { headerText, isMailAddress } from "../../src/domain/mail/MailAddress.ts"
import { moneyText, personName } from "../../src/domain/text/DisplayText.ts"
import { developmentKeyring, readKeyring } from "../../src/domain/webhooks/SecretEncryption.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { MailLocales } from "../../src/layers/mail/MailContent.ts"
import { previewMail, previewTemplates } from "../../src/layers/mail/MailPreview.ts"
import { renderMail } from "../../src/layers/mail/MailTexts.ts"
import { withoutPrivate } from "../../src/layers/mail/MailTransport.ts"
import { encryptMail, openMail } from "../../src/layers/mail/QueuedMails.ts"

const to = "ann@home.example"
const organizationId = "org_default"

/** Of prices to which tax is added. */
const confirmation: MailOf<"order-confirmation"> = {
  template: "order-confirmation",
  to,
  organizationId,
  data: {
    orderId: "0190c0de-0000-7000-8000-000000000001",
    orderNumber: "ORD-2026-000042",
    currency: "USD",
    lines: [{ title: "Mug <script>alert(1)</script> & \"saucer\"", sku: "M-1", quantity: 2, totalPrice: 2550 }],
    subtotal: 2550,
    discountTotal: 50,
    shippingTotal: 0,
    taxTotal: 10,
    grandTotal: 2510,
    shippingAddress: { line1: "1 Main St", city: "Springfield", postalCode: "12345", country: "US", extra: { a: 1 } }
  }
}

const mails: Readonly<Record<MailTemplate, Mail>> = {
  "password-reset": {
    template: "password-reset",
    to,
    organizationId,
    data: { resetUrl: "https://shop.example/reset?token=t&x=1", userName: "Ann <b>Lee</b>" }
  },
  "email-verification": {
    template: "email-verification",
    to,
    organizationId,
    data: { verifyUrl: "https://shop.example/verify?token=t", userName: "Ann" }
  },
  "order-confirmation": confirmation,
  "order-status-change": {
    template: "order-status-change",
    to,
    organizationId,
    data: {
      orderId: "o-1",
      orderNumber: "ORD-2026-000042",
      newStatus: "partially_fulfilled",
      previousStatus: "processing"
    }
  },
  "order-invoice": {
    template: "order-invoice",
    to,
    organizationId,
    data: {
      orderId: "o-1",
      orderNumber: "ORD-2026-000042",
      invoiceNumber: "INV-000007",
      currency: "USD",
      grandTotal: 2510
    }
  }
}

const options = { storeName: "Mugs & Co", locale: "en", locales: {} }

const render = (mail: Mail, locales: MailLocales = {}, locale = "en") =>
  renderMail(mail, { ...options, locale, locales })

describe("the texts of a mail", () => {
  for (const mail of Object.values(mails)) {
    it(`of ${mail.template} name the store and are whole in both forms`, () => {
      const { html, subject, text } = render(mail)
      assert.match(subject, /^[^\r\n]{5,200}$/)
      assert.include(text, "Mugs & Co")
      assert.include(html, "Mugs &amp; Co")
      assert.match(html, /^<!doctype html>\n<html lang="en">[^]*<\/html>\n$/)
      assert.notMatch(html + text, /undefined|\[object/)
    })
  }

  it("show the link to follow, once as text and as the target of a button", () => {
    const { html, text } = render(mails["password-reset"])
    assert.include(text, "https://shop.example/reset?token=t&x=1\n")
    assert.include(html, "href=\"https://shop.example/reset?token=t&amp;x=1\"")
  })

  it("hold what others wrote as text and never as markup", () => {
    const { html } = render(mails["order-confirmation"])
    assert.include(html, "Mug &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;saucer&quot;")
    assert.notMatch(html, /<script|<b>/)
  })

  it("hold no link but to a page", () => {
    for (const resetUrl of ["javascript:alert(1)", "data:text/html,x", "https://a.example/ x", "not a link"]) {
      const { html, text } = render({ ...mails["password-reset"], data: { resetUrl, userName: "" } } as Mail)
      assert.notInclude(html, "href")
      assert.notInclude(text, resetUrl)
    }
  })

  it("greet by name, unless the name is a message of a stranger", () => {
    assert.strictEqual(personName("  Ann\r\n O'Neill-Smith Jr. "), "Ann O'Neill-Smith Jr.")
    for (const name of ["", "Win at evil.example", "see https://e", "www.e", "a@b", "x".repeat(81)]) {
      assert.isUndefined(personName(name), name)
    }
    assert.include(render(mails["password-reset"]).text, "Hello Ann <b>Lee</b>,")
  })

  it("say what of the total is tax, and add it to nothing, where the prices contain it", () => {
    const { text } = render({ ...confirmation, data: { ...confirmation.data, taxIncluded: true, grandTotal: 2500 } })
    assert.include(text, "The total includes $0.10 of tax.")
    assert.notMatch(text, /^ *Tax /m)
    assert.notInclude(render(confirmation).text, "includes")
  })

  it("write amounts as the language and the currency have them", () => {
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
  it.effect("renders each template as HTML with the deployment's texts", () =>
    Effect.gen(function*() {
      const settings = yield* readSettings({
        storeName: "Mugs & Co",
        email: {
          templates: { de: { "password-reset": () => ({ subject: "Neues Passwort", paragraphs: ["Guten Tag"] }) } }
        }
      }).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({})))
      for (const template of previewTemplates) {
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
  const reset = (locale: string | undefined): Mail => ({ ...mails["password-reset"], locale } as Mail)

  it("are those of the language that was asked for, or of its parent", () => {
    for (const locale of ["de", "de-AT", "DE-ch-1996"]) {
      const { html, subject } = render(reset(locale), german)
      assert.strictEqual(subject, "Hallo Ann <b>Lee</b> Bcc: x@y")
      assert.include(html, "&lt;Grüße&gt;")
      assert.include(html, "<html lang=\"de\">")
    }
  })

  it("are those of the deployment's language where nobody asked, or for one that there is not", () => {
    assert.match(render(reset(undefined), german, "de").subject, /^Hallo/)
    assert.match(render(reset("fr"), german, "de").subject, /^Hallo/)
    assert.match(render(reset("no such tag!"), german, "de").subject, /^Hallo/)
    assert.match(render(reset("en-GB"), german, "de").subject, /^Choose a new password/)
  })

  it("are English where a language has none of its own, and can be whole texts", () => {
    assert.match(render({ ...mails["order-status-change"], locale: "de" } as Mail, german).subject, /^Your order/)
    assert.deepStrictEqual(render(mails["email-verification"], german), {
      subject: "Mugs & Co",
      text: "https://shop.example/verify?token=t",
      html: "<b>as it is</b>"
    })
  })
})

describe("an address", () => {
  it("is one mailbox and nothing else", () => {
    for (const good of [to, "a.b+c_d'e@sub.home.example", "x@münchen.example", "a@localhost"]) {
      assert.isTrue(isMailAddress(good), good)
    }
    for (
      const bad of [
        "",
        "a",
        "@b",
        "a@",
        "a@b@c",
        "a b@c",
        "a@b,c@d",
        "<a@b>",
        "a@b\nX: y",
        "a..b@c",
        "a@-b",
        "a@b-",
        "\"a b\"@c"
      ]
    ) {
      assert.isFalse(isMailAddress(bad), bad)
    }
  })

  it("and a subject cannot end their line", () => {
    assert.strictEqual(headerText("a\r\nBcc: b\u2028c\0d"), "a Bcc: b c d")
    assert.strictEqual(headerText("😀".repeat(101)).isWellFormed(), true)
  })
})

describe("what others say of a mail", () => {
  it("is told without links, addresses and keys, on one line", () => {
    const recorded = withoutPrivate(
      "554 5.7.1 <ann@home.example>:\r\n https://a.example/x?token=1 smtp://u:p@h k=abcdefghijklmnopqrstuvwxyz no"
    )
    assert.strictEqual(recorded, "554 5.7.1 <…>: … … … no")
    assert.strictEqual(withoutPrivate("\r\n"), "no reason given")
  })
})

describe("a mail that waits", () => {
  it("is read with the keys of the deployment, in its own organization, and not otherwise", () => {
    for (const mail of Object.values(mails)) {
      const encrypted = encryptMail(developmentKeyring, mail)
      assert.notMatch(JSON.stringify(encrypted), /ann@|home|token|shop\.example/)
      assert.deepStrictEqual(openMail(developmentKeyring, organizationId, encrypted), mail)
      assert.isUndefined(openMail(developmentKeyring, "org_other", encrypted))
      const changed = { ...encrypted, encrypted: `${encrypted.encrypted.slice(0, -8)}AAAAAAA=` }
      assert.isUndefined(openMail(developmentKeyring, organizationId, changed))
    }
    const other = readKeyring(Buffer.alloc(32, 1).toString("base64"))
    assert.isDefined(other)
    if (other !== undefined) {
      assert.isUndefined(openMail(other, organizationId, encryptMail(developmentKeyring, mails["password-reset"])))
      const rotated = [...other, ...developmentKeyring] as const
      assert.isDefined(
        openMail(
          [rotated[0], ...rotated.slice(1)],
          organizationId,
          encryptMail(developmentKeyring, mails["password-reset"])
        )
      )
    }
  })

  it("of an older version is still understood", () => {
    const { orderNumber: _, ...data } = {
      orderNumber: undefined,
      orderId: "o-1",
      newStatus: "confirmed",
      previousStatus: "pending"
    }
    const older: Mail = { template: "order-status-change", to, organizationId, data }
    const opened = openMail(developmentKeyring, organizationId, encryptMail(developmentKeyring, older))
    assert.deepStrictEqual(opened, older)
    assert.include(opened === undefined ? "" : render(opened).subject, "o-1")
  })
})
