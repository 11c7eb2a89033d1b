# Uses OpenAPI::Client, which makes its methods of the description and validates each request.
use strict;
use warnings;
use OpenAPI::Client;

my $client = OpenAPI::Client->new($ENV{DESCRIPTION}, base_url => $ENV{PETSTORE_BASE_URL});
$client->on(after_build_tx => sub {
    my (undef, $tx) = @_;
    $tx->req->headers->authorization("Bearer $ENV{PETSTORE_API_KEY}");
});

my $pet = $client->createPet({body => {name => 'Smaug', categoryId => 4}})->res->json;
print "created $pet->{id}: $pet->{name}\n";

my (@sizes, %cursor);
do {
    my $page = $client->listPets({limit => 8, %cursor})->res;
    push @sizes, scalar @{$page->json};
    my ($next) = ($page->headers->link // '') =~ /[?&]cursor=([^&>]+)[^>]*>; rel="next"/;
    %cursor = $next ? (cursor => $next) : ();
} while (%cursor);
print 'pages of ', join(', ', @sizes), "\n";

my $order = $client->placeOrder({body => {petId => 13, quantity => 2}})->res->json;
print "ordered $order->{id}: $order->{quantity} of $order->{petId}\n";

for my $event (@{$client->listEvents->res->json}) {
    my ($type, $data, $previous) = @$event{qw(type data previous)};
    print "$type: $data->{name}\n" if $type eq 'pet.created';
    print "$type: $data->{quantity}, was $previous->{quantity}\n" if $type eq 'inventory.updated';
}

my $refused = $client->getCategory({categoryId => 4711})->res;
print $refused->code, " ", $refused->json->{code}, "\n";
