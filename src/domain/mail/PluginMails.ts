import { Context, Effect, Layer, Schema } from "effect"
import { currentOrganization } from "../platform/access/Actor.ts"
import type { MailCategory } from "./DeclineLink.ts"
import { Mails, type PluginMail } from "./Mail.ts"
import { MailChoices } from "./MailChoices.ts"
import type { MailContent, MailLocales, MailScene, RenderedMail } from "./MailContent.ts"
import { MailLimits } from "./MailLimits.ts"

type MailJson = PluginMail["data"]

type MailWriterOf<Data> = (data: Data, scene: MailScene) => MailContent | RenderedMail

/**
 * Why a mail is sent. `order`: about a paid order, or for people of the shop and its suppliers; never held back.
 * `transactional`: its receiver asked for it. Receivers can decline all other mails by their category.
 */
export type MailPurpose = "order" | "transactional" | { readonly category: string }

/** `ofEachMail`: each call of `send` states it. */
export type TemplatePurpose = MailPurpose | "ofEachMail"

export interface BroughtMail {
  readonly name: PluginMail["template"]
  readonly purpose: TemplatePurpose
  readonly writers: Readonly<Record<string, MailWriterOf<MailJson>>>
  readonly sample: () => MailJson
}

export interface PluginMailTemplate<Data, Purpose extends TemplatePurpose = TemplatePurpose> extends BroughtMail {
  readonly purpose: Purpose
  readonly encode: (data: Data) => Effect.Effect<MailJson>
}

export interface Mailing {
  readonly mailTemplates: ReadonlyArray<BroughtMail>
}

/**
 * A mail of a plugin (contract, platform §3): `name` is `<plugin>/<name>`. The encoded form of `data` is JSON, and
 * mails that wait when a new version starts must meet it.
 */
export const mailTemplate = <Data, Encoded extends MailJson, const Purpose extends TemplatePurpose>({
  data: schema,
  name,
  purpose,
  sample,
  texts
}: {
  readonly name: PluginMail["template"]
  readonly purpose: Purpose
  readonly data: Schema.Codec<Data, Encoded>
  readonly sample: NoInfer<Data>
  readonly texts: Readonly<Record<string, MailWriterOf<NoInfer<Data>>>> & { readonly en: MailWriterOf<NoInfer<Data>> }
}): PluginMailTemplate<Data, Purpose> => {
  const decode = Schema.decodeUnknownSync(schema)
  const encode = Schema.encodeEffect(schema)
  const encodeSample = Schema.encodeSync(schema)
  return {
    name,
    purpose,
    sample: () => encodeSample(sample),
    encode: (data) => Effect.catch(encode(data), Effect.die),
    writers: Object.fromEntries(
      Object.entries(texts).map(([locale, write]) => [locale, (data, scene) => write(decode(data), scene)])
    )
  }
}

export const withPluginMails = (plugins: ReadonlyArray<Mailing>, deployment: MailLocales): MailLocales => {
  const templates = plugins.flatMap(({ mailTemplates }) => mailTemplates)
  const tags = new Set([...templates.flatMap(({ writers }) => Object.keys(writers)), ...Object.keys(deployment)])
  const of = (tag: string) =>
    Object.fromEntries(templates.flatMap(({ name, writers }) => {
      const writer = writers[tag]
      return writer === undefined ? [] : [[name, writer]]
    }))
  return Object.fromEntries([...tags].map((tag) => [tag, { ...of(tag), ...deployment[tag] }]))
}

interface AnyPluginMail<Data> {
  /** Without a name. */
  readonly to: string
  readonly data: Data
  /** Default: the deployment's language. */
  readonly locale?: string | undefined
  /** One mail for this key, as long as its job is kept (`jobs.retentionDays`). */
  readonly key?: string | undefined
  readonly purpose?: MailPurpose
  /** The caller has counted it with `count`. */
  readonly isCounted?: boolean
}

export type NewPluginMail<Data, Purpose extends TemplatePurpose = MailPurpose> =
  & AnyPluginMail<Data>
  & ("ofEachMail" extends Purpose ? { readonly purpose: MailPurpose } : { readonly purpose?: never })

/** Mails of plugins, by their templates. */
export class PluginMails extends Context.Service<PluginMails>()("stoa/domain/mail/PluginMails", {
  make: Effect.gen(function*() {
    const { isOn, send } = yield* Mails
    const { accept, decline, declined, linkOf, ofAddress } = yield* MailChoices
    const { count } = yield* MailLimits
    return {
      isOn,
      /**
       * Sends a mail by a background job; in a transaction exactly if that commits. An invalid address is logged, and
       * nothing is sent. The job of a mail whose category its receiver declined sends nothing and says so. 429 for a
       * shopper who causes too many mails.
       */
      send: Effect.fn("PluginMails.send")(function*<Data, Purpose extends TemplatePurpose>(
        template: PluginMailTemplate<Data, Purpose>,
        mail: NewPluginMail<Data, Purpose>
      ) {
        const { data, key, locale, to }: AnyPluginMail<Data> = mail
        const stated: TemplatePurpose | undefined = template.purpose === "ofEachMail" ? mail.purpose : template.purpose
        const purpose = stated ??
          (yield* Effect.die(new Error(`A mail ${template.name} was sent without its purpose.`)))
        const isAdmitted = purpose === "order" || mail.isCounted === true || (yield* count(to))
        const made = {
          template: template.name,
          to,
          organizationId: yield* currentOrganization,
          ...(locale === undefined ? {} : { locale }),
          ...(typeof purpose === "string" ? {} : { category: purpose.category }),
          ...(isAdmitted ? {} : { suppressed: "the receiver got too many mails" }),
          data: yield* template.encode(data)
        }
        yield* send(made, key === undefined ? undefined : `${template.name}/${key}`)
      }),
      /** Counts a message that is sent another way; false: do not send it, and record that. 429 for a shopper. */
      count,
      /** Those of the mails whose category their receivers declined; one statement. */
      declined,
      /** Declines a category, `*` for all others, for an address. */
      decline,
      /** Undoes that. */
      accept,
      /** The choices of an address, at most one for each category. */
      choicesOf: ofAddress,
      /** The link that declines, for mails that a plugin sends by other ways; undefined without an address for it. */
      unsubscribeUrl: (mail: MailCategory) =>
        Effect.map(currentOrganization, (organizationId) => linkOf(organizationId, mail))
    }
  })
}) {
  static readonly layer = Layer.provide(Layer.effect(PluginMails, PluginMails.make), MailLimits.layer)
}
