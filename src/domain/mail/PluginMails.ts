import { Context, Effect, Layer, Schema } from "effect"
import { currentOrganization } from "../platform/access/Actor.ts"
import { Mails, type PluginMail } from "./Mail.ts"
import type { MailContent, MailLocales, MailScene, RenderedMail } from "./MailContent.ts"

type MailJson = PluginMail["data"]

type MailWriterOf<Data> = (data: Data, scene: MailScene) => MailContent | RenderedMail

export interface BroughtMail {
  readonly name: PluginMail["template"]
  readonly writers: Readonly<Record<string, MailWriterOf<MailJson>>>
  readonly sample: () => MailJson
}

export interface PluginMailTemplate<Data> extends BroughtMail {
  readonly encode: (data: Data) => Effect.Effect<MailJson>
}

export interface Mailing {
  readonly mailTemplates: ReadonlyArray<BroughtMail>
}

/**
 * A mail of a plugin (contract, platform §3): `name` is `<plugin>/<name>`. The encoded form of `data` is JSON, and
 * mails that wait when a new version starts must meet it.
 */
export const mailTemplate = <Data, Encoded extends MailJson>({ data: schema, name, sample, texts }: {
  readonly name: PluginMail["template"]
  readonly data: Schema.Codec<Data, Encoded>
  readonly sample: NoInfer<Data>
  readonly texts: Readonly<Record<string, MailWriterOf<NoInfer<Data>>>> & { readonly en: MailWriterOf<NoInfer<Data>> }
}): PluginMailTemplate<Data> => {
  const decode = Schema.decodeUnknownSync(schema)
  const encode = Schema.encodeEffect(schema)
  const encodeSample = Schema.encodeSync(schema)
  return {
    name,
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

export interface NewPluginMail<Data> {
  /** Without a name. */
  readonly to: string
  readonly data: Data
  /** Default: the deployment's language. */
  readonly locale?: string | undefined
  /** One mail for this key, as long as its job is kept (`jobs.retentionDays`). */
  readonly key?: string | undefined
}

/** Mails of plugins, by their templates. */
export class PluginMails extends Context.Service<PluginMails>()("stoa/domain/mail/PluginMails", {
  make: Effect.map(Mails, ({ isOn, send }) => ({
    isOn,
    /**
     * Sends a mail by a background job; in a transaction exactly if that commits. An invalid address is logged, and
     * nothing is sent.
     */
    send: Effect.fn("PluginMails.send")(function*<Data>(
      template: PluginMailTemplate<Data>,
      { data, key, locale, to }: NewPluginMail<Data>
    ) {
      const mail = {
        template: template.name,
        to,
        organizationId: yield* currentOrganization,
        ...(locale === undefined ? {} : { locale }),
        data: yield* template.encode(data)
      }
      yield* send(mail, key === undefined ? undefined : `${template.name}/${key}`)
    })
  }))
}) {
  static readonly layer = Layer.effect(PluginMails, PluginMails.make)
}
