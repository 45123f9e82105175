import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { developmentKeyring, encryptSecret, type Keyring, openSecret } from "../webhooks/SecretEncryption.ts"
import { DeclineLinkUnknown, declinePath, type MailCategory } from "./DeclineLink.ts"
import { digestOf, MailChoiceRepo } from "./MailChoiceRepo.ts"

/** Keys and address of the links that decline mails. */
export interface DeclineLinks {
  readonly keyring: Keyring
  readonly storeName: string
  /** The address of the API; undefined: production without an https address. */
  readonly origin: string | undefined
}

export class DeclineSettings
  extends Context.Service<DeclineSettings, DeclineLinks>()("stoa/domain/mail/DeclineSettings")
{
  static readonly layerOf = (links: Partial<DeclineLinks> = {}): Layer.Layer<DeclineSettings> =>
    Layer.succeed(DeclineSettings, {
      keyring: developmentKeyring,
      storeName: "Stoa",
      origin: "http://localhost:3000",
      ...links
    })
}

const Linked = Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String, Schema.String]))
const encode = Schema.encodeSync(Linked)
const decode = Schema.decodeUnknownOption(Linked)

/** Authenticated with each token: other secrets of the keyring are no tokens. */
const owner = "mail/decline"

/**
 * Categories of mails that receivers have declined (docs/mail.md), by link or in their preferences. Links hold the
 * organization, the digest of the address and the category, encrypted: they are good while the key is in
 * `STOA_SECRETS_KEY`.
 */
export class MailChoices extends Context.Service<MailChoices>()("stoa/domain/mail/MailChoices", {
  make: Effect.gen(function*() {
    const repo = yield* MailChoiceRepo
    const { keyring, origin, storeName } = yield* DeclineSettings

    const pairOf = (organizationId: string, { category, to }: MailCategory) => ({
      digest: digestOf(organizationId, to),
      category
    })

    /** The link that declines; undefined where the deployment has no address for it. */
    const linkOf = (organizationId: string, { category, to }: MailCategory): string | undefined => {
      if (origin === undefined) return undefined
      const text = encode([organizationId, digestOf(organizationId, to), category])
      const encrypted = encryptSecret(keyring, owner, text)
      return `${origin}${declinePath}?token=${encrypted.keyId}.${
        Buffer.from(encrypted.text, "base64").toString("base64url")
      }`
    }

    /** 404 for any text but the token of a link. */
    const opened = (token: string) => {
      const [keyId = "", encrypted = ""] = token.split(".")
      const text = openSecret(keyring, owner, { keyId, text: Buffer.from(encrypted, "base64url").toString("base64") })
      const [organizationId, digest, category] = text === undefined ? [] : Option.getOrElse(decode(text), () => [])
      return organizationId === undefined || digest === undefined || category === undefined
        ? Effect.fail(new DeclineLinkUnknown())
        : Effect.succeed({ organizationId, digest, category })
    }

    const choose = (isDeclined: boolean) =>
      Effect.fnUntraced(function*(mail: MailCategory) {
        const now = yield* DateTime.nowAsDate
        yield* repo.choose(pairOf(yield* currentOrganization, mail), isDeclined, now)
      })

    return {
      storeName,
      linkOf,
      /** The category of a link. 404. */
      look: (token: string) => Effect.map(opened(token), ({ category }) => ({ category })),
      /** Declines by a link, in its organization. 404. */
      follow: Effect.fn("MailChoices.follow")(function*(token: string) {
        const { organizationId, ...pair } = yield* opened(token)
        const now = yield* DateTime.nowAsDate
        const actor = { ...yield* CurrentActor, organizationId }
        yield* Effect.provideService(repo.choose(pair, true, now), CurrentActor, actor)
        return { category: pair.category }
      }),
      decline: choose(true),
      accept: choose(false),
      ofAddress: Effect.fn("MailChoices.ofAddress")(function*(address: string) {
        return yield* repo.ofAddress(digestOf(yield* currentOrganization, address))
      }),
      /** Those of the mails that their receivers declined; one statement. */
      declined: Effect.fn("MailChoices.declined")(function*<M extends MailCategory>(mails: ReadonlyArray<M>) {
        const organizationId = yield* currentOrganization
        const keyOf = ({ category, digest }: { readonly category: string; readonly digest: string }) =>
          `${digest} ${category}`
        const pairs = mails.map((mail) => pairOf(organizationId, mail))
        const found = new Set((yield* repo.declined(pairs)).map(keyOf))
        return mails.filter((_, index) => pairs[index] !== undefined && found.has(keyOf(pairs[index])))
      })
    }
  })
}) {
  static readonly layer = Layer.provide(Layer.effect(MailChoices, MailChoices.make), MailChoiceRepo.layer)
}
