"""What the seed data of the refund desk are drawn from: money, people, goods, holidays, notices of carriers."""

from __future__ import annotations

NOW = "2026-03-14T09:30:00Z"
"""The time up to which the shop's history goes; scenarios start there."""

CURRENCIES = {"EUR": (2, 100, 1), "GBP": (2, 86, 1), "JPY": (0, 165, 10), "KRW": (0, 1500, 100), "USD": (2, 110, 1)}
"""Currency → (decimals, minor units per 100 euro cents, step of prices)."""

LIMITS = {"desk_agent": (25_000, 40_000), "desk_lead": (100_000, 200_000), "desk_manager": (500_000, 1_000_000)}
"""Role → (per refund, per customer in 30 days) in euro cents."""

STAFF = (
    "Ruth Adeyemi:desk_manager,Pavel Horák:desk_lead,Mina Sato:desk_lead,Joris Bakker:desk_agent,Elena Rossi:desk_agent"
)

SUPPLIERS = """
Aurin Audio GmbH|DE|14
Porcelana Vista Alegre Norte|PT|30
Kōbo Ceramics|JP|21
Fjell Outdoor AS|NO|30
Lumen & Sons Ltd|GB|10
Casa Verde Plantas|ES|7
Bright Circuit Trading|CN|45
Atelier Moreau|FR|28
"""

PRODUCTS = """
electronics|Wren over-ear headphones|8990|S01
electronics|Wren in-ear headphones|4990|S01
electronics|Pebble bluetooth speaker|3990|S07
electronics|Heron action camera|32900|S07
electronics|Kestrel mirrorless camera|119900|
electronics|Swift e-reader|12900|
electronics|Linnet smart plug, pack of 2|2490|S07
electronics|Tern power bank 20,000 mAh|3490|S07
electronics|Finch mechanical keyboard|10900|
electronics|Finch wireless mouse|3990|
electronics|USB-C cable 2 m|990|S07
electronics|Protective case for phone|1990|S07
electronics|Owl desk lamp with charger|5990|S05
apparel|Merino jumper|7990|S04
apparel|Rain jacket|12990|S04
apparel|Trekking socks, 3 pairs|1890|S04
apparel|Linen shirt|4990|
apparel|Cotton T-shirt|1990|
apparel|Wool scarf|3490|
apparel|Running shoes|9990|
apparel|Leather belt|3990|
home|Stoneware dinner set, 16 pieces|11990|S02
home|Porcelain teapot|4590|S03
home|Set of 4 wine glasses|3290|S02
home|Cast-iron casserole 4 l|8990|
home|Gooseneck kettle|6490|S05
home|Wall mirror 60 cm|7490|S02
home|Table vase|2790|S03
home|Cotton bed linen|5990|
home|Bamboo cutting board|2290|
home|Ceramic table lamp|6990|S05
home|Wool blanket|7990|S04
perishable|Box of 12 mangoes|3490|S06
perishable|Cheese selection|4290|
perishable|Potted orchid|2990|S06
perishable|Bouquet of tulips|2490|S06
perishable|Chocolate truffles 500 g|2690|
digital|Photo editor, one-year licence|5990|
digital|Audiobook: The Salt Road|1490|
digital|Language course, level A1|3990|
digital|Knitting patterns, collection|990|
gift_card|Gift card 25|2500|
gift_card|Gift card 50|5000|
gift_card|Gift card 100|10000|
made_to_order|Engraved fountain pen|6990|S08
made_to_order|Photo book, hardcover|3490|
made_to_order|Curtains cut to size|9990|
made_to_order|Engraved silver bracelet|8490|S08
marketplace|Vintage film camera|14900|S07
marketplace|Handwoven rug 140 × 200|18900|S08
marketplace|Camping stove|5490|S04
marketplace|Floor cushion|4490|S08
"""

PEOPLE = """
DE|EUR|de|+49 30 55501|Lena Jonas Mia Emil Fatima Jürgen Greta Can|\
Hoffmann Krüger Weiß Öztürk Brandt Scholz|Lindenstraße/Goethestraße/Am Markt|Berlin:10115 Hamburg:20095 Köln:50667
AT|EUR|de|+43 1 55502|Oliver Katharina Lukas Anna Felix|\
Schmidt Gruber Wallner Steiner|Mariengasse/Ringstraße|Wien:1010 Graz:8010
FR|EUR|fr|+33 1 5550|Chloé Hugo Léa Amine Camille Étienne|\
Martin Lefèvre Benali Rousseau Garnier|rue des Lilas/rue Victor Hugo|Lyon:69002 Paris:75011 Nantes:44000
IT|EUR|it|+39 06 5550|Giulia Marco Chiara Luca Elisa|\
Ferraro Conti Moretti Greco|via Garibaldi/via Roma|Torino:10121 Bologna:40121
ES|EUR|es|+34 91 5550|Sofía Javier Lucía Pablo Carmen|\
Herrera Vidal Ortega Núñez|calle Mayor/calle del Sol|Sevilla:41001 Valencia:46001
NL|EUR|nl|+31 20 5550|Jan Sanne Bram Fenna Youssef|\
de_Vries Visser El_Amrani Mulder|Keizersgracht/Dorpsstraat|Utrecht:3511 Amsterdam:1012
PL|EUR|pl|+48 22 5550|Marta Piotr Zofia Łukasz Agnieszka|\
Kowalska Nowak Wiśniewska Zając|ulica Polna/ulica Długa|Kraków:31-001 Gdańsk:80-001
IE|EUR|en|+353 1 5550|Emma Liam Niamh Cian Aoife|\
Murphy O'Connor Byrne Walsh|Mill Lane/Abbey Road|Cork:T12 Galway:H91
SE|EUR|sv|+46 8 5550|Ingrid Axel Elsa Nils|\
Larsson Nyström Åkesson|Storgatan/Kyrkogatan|Malmö:21122 Uppsala:75310
GB|GBP|en|+44 20 5550|Tom Grace Harry Aisha Owen Zainab|\
Baker Hughes Khan Taylor Campbell|Church Lane/Mill Road/High Street|Leeds:LS1 Bristol:BS1 Cardiff:CF10
US|USD|en|+1 212 555|Noah Olivia Jayden Wei Maria Ethan Hannah|\
Williams Zhang Garcia Johnson Cohen Nguyen|Maple Avenue/Oak Street/5th Street|Portland:97201 Austin:78701 Chicago:60601
IN|USD|en|+91 22 5550|Priya Arjun Ananya Rohan Kavya|\
Sharma Iyer Patel Reddy|MG Road/Park Street|Pune:411001 Bengaluru:560001
NG|USD|en|+234 1 5550|Amara Chinedu Ngozi Tunde|\
Okafor Adeyemi Balogun|Broad Street/Allen Avenue|Lagos:100001 Abuja:900001
BR|USD|pt|+55 11 5550|Mateo Beatriz João Larissa|\
Silva Oliveira Souza|rua das Flores/avenida Brasil|Recife:50010 Curitiba:80010
JP|JPY|ja|+81 3 5550|Kenji Hiroshi Yui Haruka Sota Aoi|\
Watanabe Tanaka Sato Kobayashi Mori|Sakura-dori/Aoyama|Tokyo:107-0062 Osaka:530-0001
KR|KRW|ko|+82 2 5550|Ji-woo Min-jun Seo-yeon Do-yun|\
Park Kim Lee Choi|Teheran-ro/Hangang-daero|Seoul:06236 Busan:48058"""

HOLIDAYS = """
DE 2026-01-01 New Year|DE 2026-04-03 Good Friday|DE 2026-04-06 Easter Monday|DE 2025-12-25 Christmas
DE 2025-12-26 Second Christmas Day|AT 2026-01-01 New Year|AT 2026-01-06 Epiphany|FR 2026-01-01 New Year
IE 2026-02-02 Saint Brigid's Day|IE 2026-03-17 Saint Patrick's Day|PL 2026-01-01 New Year|PL 2026-01-06 Epiphany
ES 2026-01-06 Epiphany|IT 2026-01-06 Epiphany|SE 2026-01-06 Epiphany|NL 2026-01-01 New Year|GB 2026-01-01 New Year
US 2026-02-16 Presidents' Day|US 2026-01-19 Martin Luther King Day|IN 2026-03-04 Holi|BR 2026-02-17 Carnival
JP 2026-02-11 Foundation Day|JP 2026-02-23 Emperor's Birthday|JP 2026-03-20 Vernal Equinox|KR 2026-02-17 Seollal
KR 2026-03-02 Independence Movement Day (observed)
"""

NOTICES = """
Nordpost|DE|2026-01-12|2026-01-23|5|Sorting centre Hanover closed after snowfall
Nordpost|SE|2026-02-02|2026-02-08|4|Ferry line suspended
Velox|FR|2026-01-19|2026-01-25|3|Strike at the depots
Velox|ES|2026-01-26|2026-02-01|6|Storm damage in Andalusia
Parcelway|GB|2026-01-26|2026-02-03|7|Backlog after move of the hub
Parcelway|US|2026-02-20|2026-02-25|4|Winter storm in the north-east
Tsubame|JP|2026-01-05|2026-01-09|3|New Year backlog
"""

CARRIERS = {"GB": "Parcelway", "IE": "Parcelway", "US": "Parcelway", "JP": "Tsubame", "KR": "Tsubame", "IN": "Globex"}
CARRIERS |= {"NG": "Globex", "BR": "Globex", "FR": "Velox", "ES": "Velox", "IT": "Velox"}

LETTERS = "ä:ae ö:oe ü:ue ß:ss é:e è:e ë:e í:i ó:o ú:u ñ:n ł:l ś:s ą:a ć:c ż:z å:a ã:a É:e Ö:oe Å:a Ł:l"
ASCII = {pair[0]: pair[2:] for pair in LETTERS.split()}

TABLES = (
    "currencies role_limits staff suppliers products customers risk_profiles addresses orders shipments "
    "tracking_events order_items gift_cards payments returns refunds store_credit tickets ticket_notes evidence "
    "claims traces fraud_reviews replacements carrier_notices holidays"
).split()
"""All tables with seed data, each after those that it refers to."""

SERIES = "C:2000 AD:3300 PM:4100 SH:7300 G:2800 R:3000 RF:8000 SC:2400 T:6000 N:9000 EV:5200 ER:1900 CL:1300 TR:1700 "
SERIES += "FR:1100 RP:1500 OV:100"
