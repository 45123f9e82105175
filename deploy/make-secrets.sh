#!/bin/sh
# Writes the secrets of docker-compose.yml into a file, .env beside it when none is named. Run it once:
# a file that is there is left as it is, because a deployment cannot read its data with other secrets.
set -eu
file=${1:-$(dirname "$0")/../.env}
if [ -e "$file" ]; then
  echo "$file is there and stays as it is."
  exit 0
fi
random() { head -c 32 /dev/urandom | base64; }
umask 077
{
  echo "POSTGRES_PASSWORD=$(head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n')"
  echo "STOA_AUTH_SECRET=$(random)"
  echo "STOA_SECRETS_KEY=$(random)"
  echo "STOA_METRICS_KEY=$(random)"
  echo "# To fill in: the mail server, without which nobody can verify an address, and whose mails they are."
  echo "STOA_SMTP_URL="
  echo "STOA_MAIL_FROM="
  echo "# To fill in: where clients reach the deployment, and who takes the money."
  echo "STOA_PUBLIC_URL="
  echo "STOA_STRIPE_SECRET_KEY="
  echo "STOA_STRIPE_WEBHOOK_SECRET="
} > "$file.$$"
# It gets its name when it is whole.
mv "$file.$$" "$file"
echo "Wrote $file. Fill in what is empty, then: docker compose up --build"
